import ClarionTesting
import Foundation

/// Takes a right request and makes it wrong in one to three ways, mostly small ones, so that the outer readers let it through.
enum Damage {
    static func damaged(_ request: WireRequest, _ random: inout SeededGenerator) -> WireRequest {
        var request = request
        request.isChunked = Int.random(in: 0..<10, using: &random) == 0
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0...7: request.body = body(request.body, &random)
            case 8...11: headerValue(&request, &random)
            case 12: oddHeader(&request, &random)
            case 13: authorization(&request, &random)
            case 14...16: request.target = target(request.target, &random)
            case 17: request.target = query(request.target, &random)
            case 18: request.body = trick(request.body, &random)
            default: method(&request, &random)
            }
        }
        return request
    }

    /// Bytes changed, cut, doubled and spliced.
    static func flipped(_ bytes: [UInt8], pieces: [[UInt8]], _ random: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return pieces.randomElement(using: &random) ?? [] }
        var bytes = bytes
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 1...12, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0...bytes.count, using: &random))
        case 3: bytes.removeSubrange(place...)
        case 4: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &random)
        default: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
        }
        return bytes
    }

    private static let bodyPieces: [[UInt8]] =
        [
            "<", ">", "</", "/>", "&", "&lt;", "&#x41;", "&#0;", "&#xD800;", "\"", "'", "=", "\r\n", "<![CDATA[", "]]>", "<!--",
            "-->",
            "<?x ?>", "xmlns=\"\"", " i:nil=\"true\"", ":", "é", "😀", "\u{0}", "\u{FFFE}", "<a>", "</a>", "{", "}", "[", "]", ",",
            "null",
            "true", "1e999", "-0", "9223372036854775808", "\\ud800", "\\u0000", "\\", "$(", "#(x)", ".(y,3)", "{'", "'+'", "--",
            "\r\n\r\n",
            "~1", "/templates", "/secondaryTiles/x/templates/y/body", "$InstallationId:{x}", "$UserId:{}", "9999-12-31T23:59:60Z",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xEF, 0xBB, 0xBF], [0xFE, 0xFF, 0, 0x3C]]

    private static func body(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        flipped(bytes, pieces: bodyPieces, &random)
    }

    /// What has brought down readers of XML, JSON and templates.
    private static func trick(_ body: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        let text = String(decoding: body, as: UTF8.self)
        func deep(_ open: String, _ close: String) -> String {
            let depth = [33, 200, 5_000].randomElement(using: &random) ?? 33
            return String(repeating: open, count: depth) + String(repeating: close, count: depth)
        }
        let entities =
            "<!DOCTYPE e [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]>"
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return Array((entities + text.replacing("</Tags>", with: "&b;&c;</Tags>")).utf8)
        case 1: return Array(text.replacing("<Tags>", with: "<Tags>" + deep("<a>", "</a>")).utf8)
        case 2: return Array(text.replacing("\"tags\":", with: "\"x\":" + deep("[", "]") + ",\"tags\":").utf8)
        case 3: return Array(deep("{\"a\":", "}").utf8)
        case 4: return Array(deep("<a>", "</a>").utf8)
        case 5: return Array(text.replacing("tags", with: String(repeating: "t", count: 70_000)).utf8)
        case 6: return body + [UInt8](repeating: UInt8(ascii: " "), count: 150_000)
        case 7: return Array(text.utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case 8: return body + body
        case 9: return Array(text.replacing("$(", with: deep("{", "}") + "$(").utf8)
        case 10: return (0..<Int.random(in: 1...3_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        default: return []
        }
    }

    private static func target(_ target: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "%00", "%2f", "%2F..", "..", "/", "//", "%ff", "%C3%A9", "%", "%zz", "?", "&", "=", "$", ";", ":", "%25", "@", "*",
            "\\", "#", "|", "é", "\u{1}",
        ]
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let rest = target[path.endIndex...]
        if Int.random(in: 0..<30, using: &random) == 0 {
            return path
                + Array(("/" + String(repeating: "a", count: [300, 2_100, 9_000].randomElement(using: &random) ?? 1)).utf8) + rest
        }
        // The hub's name stays, or nothing more is tried behind it.
        let start = path.dropFirst().firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        return path[..<start] + flipped(Array(path[start...]), pieces: pieces.map { Array($0.utf8) }, &random) + rest
    }

    private static func query(_ target: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        let more = [
            "&$top=-1", "&$top=99999999999999999999", "&$skip=9223372036854775807", "&continuationtoken=%00",
            "&$filter=DeviceToken eq",
            "&$filter='", "&$filter=" + String(repeating: "(", count: 3_000), "&direct", "&test", "&test=false",
            "&api-version=%0d%0aX:1",
            "&comp=block", "&" + String(repeating: "a&", count: 500), "&sig=", "&se=0", "&prefix=%ff", "&marker=..",
        ]
        if Bool.random(using: &random) {
            return target + Array((more.randomElement(using: &random) ?? "").replacing(" ", with: "%20").utf8)
        }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let pieces = ["%", "&", "=", "'", "%27", "+", "%00", "%ff"].map { Array($0.utf8) }
        return path + flipped(Array(target[path.endIndex...]), pieces: pieces, &random)
    }

    private static func method(_ request: inout WireRequest, _ random: inout SeededGenerator) {
        let methods = ["GET", "PUT", "POST", "PATCH", "OPTIONS", "PROPFIND", "put"]
        // What is deleted is no damage but a deed; nothing else is done by another method with such a body.
        request.method = methods.randomElement(using: &random) ?? "GET"
    }
}
