import ClarionTesting
import Foundation

extension Damage {
    /// Another value, or the value changed, of a header that means something.
    static func headerValue(_ request: inout WireRequest, _ random: inout SeededGenerator) {
        let places = request.headers.indices.filter {
            String(decoding: request.headers[$0].name, as: UTF8.self) != "Authorization"
        }
        guard let place = places.randomElement(using: &random) else { return }
        let odd = oddValues.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<4, using: &random) {
        case 0: request.headers[place].value = Array(odd.utf8)
        case 1: request.headers[place].value += Array(odd.utf8)
        case 2: request.headers.append(request.headers[place])
        default:
            let pieces = ["(", ")", "||", "&&", "!", ",", "$UserId:{", "}", "\"", ";", "=", " ", "\t", "é"].map { Array($0.utf8) }
            request.headers[place].value = flipped(request.headers[place].value, pieces: pieces, &random)
                .filter { $0 != 13 && $0 != 10 }
        }
    }

    private static let oddValues: [String] = [
        "", " ", "a", "apple", "template", "gcm", "fcmv1", "nokiax", "1", "-1", "99999999999999999999", "\u{FFFD}", "NaN",
        "alert",
        "background", "voip", "liveactivity", "a && b || c && !d", String(repeating: "(", count: 2_000) + "a",
        String(repeating: "!", count: 3_000) + "a", (0..<30).map { "t\($0)" }.joined(separator: "||"),
        (0..<9).map { "t\($0)" }.joined(separator: "&&"), "$InstallationId:{", "username:ann",
        String(repeating: "x", count: 6_000),
        "2026-13-45T99:99:99Z", "0000-00-00", "9999-12-31T23:59:59.999Z", "2020-01-01T00:00:00", "12/31/1969 23:59:59",
        "02/30/2027 13:00:00 PM",
        "multipart/mixed", "multipart/mixed; boundary=", "multipart/mixed; boundary=\"",
        "multipart/mixed; boundary=" + String(repeating: "-", count: 71),
        "application/json; charset=utf-16", "text/xml; charset=\"", "bytes=-", "bytes=9-1", "bytes=0-0,2-3,4-5", "*", "\"", "W/",
        "W/\"\"", "\"99999999999999999999\"",
        "é", "😀", "%00", "null", "[]", "{}",
    ]

    /// An unexpected header, or an invalid one.
    static func oddHeader(_ request: inout WireRequest, _ random: inout SeededGenerator) {
        let fields: [(name: String, value: String)] = [
            ("X-Huge", String(repeating: "h", count: 20_000)), ("X-NUL", "a\u{0}b"), ("X-Control", "a\u{1}b\u{7F}"),
            ("Bad Name", "x"),
            ("", "x"), ("X-Folded", "a\r\n b"), ("Transfer-Encoding", "gzip"), ("Content-Encoding", "gzip"),
            ("Content-Length", "-5"),
            ("Expect", "200-ok"), ("Upgrade", "h2c"), ("Authorization", "Basic YTpi"), ("ServiceBusNotification-Format", "apple"),
            ("ServiceBusNotification-ScheduleTime", "now"), ("If-Match", "\"7\""),
            ("TrackingId", String(repeating: "é", count: 200)),
            ("x-ms-client-request-id", "a,b"), ("X-Forwarded-For", "::::"), ("Accept-Encoding", "gzip;q=x"), ("Host", "other"),
        ]
        guard let field = fields.randomElement(using: &random) else { return }
        request.headers.append((Array(field.name.utf8), Array(field.value.utf8)))
    }

    /// A token that is changed somewhere, or whose parts come otherwise.
    static func authorization(_ request: inout WireRequest, _ random: inout SeededGenerator) {
        guard let place = request.headers.firstIndex(where: { $0.name == Array("Authorization".utf8) }) else { return }
        let text = String(decoding: request.headers[place].value, as: UTF8.self)
        let fields = text.dropFirst("SharedAccessSignature ".count).split(separator: "&").map(String.init)
        let value =
            switch Int.random(in: 0..<9, using: &random) {
            case 0: "SharedAccessSignature " + fields.shuffled(using: &random).joined(separator: "&")
            case 1: "SharedAccessSignature " + (fields + [fields.randomElement(using: &random) ?? ""]).joined(separator: "&")
            case 2: "SharedAccessSignature " + fields.dropFirst(Int.random(in: 1...4, using: &random)).joined(separator: "&")
            case 3: "sharedaccesssignature   " + fields.joined(separator: "&") + "&x=y&"
            case 4: "Bearer " + text
            case 5: text + String(repeating: "&a=b", count: 3_000)
            case 6: ""
            default:
                String(
                    decoding: flipped(
                        Array(text.utf8), pieces: [[UInt8(ascii: "%")], [UInt8(ascii: "&")], [UInt8(ascii: "=")]], &random
                    )
                    .filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
            }
        request.headers[place].value = Array(value.utf8)
    }
}
