/// Takes a multipart body apart (RFC 2046 section 5.1), as leniently as the clients need: lines may end in CRLF or LF, and the
/// closing delimiter may be missing.
enum MultipartReader {
    /// One part.
    struct Part {
        var headers: HeaderList
        var content: ArraySlice<UInt8>

        /// The `name` of its `Content-Disposition`, whatever the disposition is.
        var name: String? { headers["Content-Disposition"].flatMap { HeaderParameters($0)["name"] } }
    }

    private static let maximumParts = 8
    private static let maximumHeaders = 16

    static func parts(contentType: String?, body: [UInt8]) throws(HubRequestFault) -> [Part] {
        let parameters = contentType.map(HeaderParameters.init)
        guard let parameters, parameters.word.hasPrefix("multipart/") else {
            throw HubRequestFault(at: "Content-Type", "multipart/mixed with a boundary is expected")
        }
        guard let boundary = parameters["boundary"], (1...200).contains(boundary.utf8.count) else {
            throw HubRequestFault(at: "Content-Type", "the boundary is missing or too long")
        }
        let delimiter = Array("--".utf8) + Array(boundary.utf8)
        var parts: [Part] = []
        var start: Int?
        var index = 0
        var isClosed = false
        while index < body.count, !isClosed {
            let end = body[index...].firstIndex(of: 0x0A) ?? body.count
            let line = trimmed(body[index..<end])
            if line.starts(with: delimiter), let isLast = isDelimiter(line.dropFirst(delimiter.count)) {
                if let start { parts.append(try part(body[start..<contentEnd(body, start, index)])) }
                guard parts.count <= maximumParts else { throw HubRequestFault(at: "body", "there are too many parts") }
                start = isLast ? nil : min(end + 1, body.count)
                isClosed = isLast
            }
            index = end + 1
        }
        // The end of the body closes the last part where a client writes no closing delimiter.
        if let start { parts.append(try part(body[start..<contentEnd(body, start, body.count)])) }
        return parts
    }

    /// What follows the boundary on its line: nothing for a delimiter, `--` for the closing one.
    private static func isDelimiter(_ rest: ArraySlice<UInt8>) -> Bool? {
        if rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return false }
        return rest.starts(with: Array("--".utf8)) && rest.dropFirst(2).allSatisfy { $0 == 0x20 || $0 == 0x09 } ? true : nil
    }

    /// The line end in front of a delimiter belongs to the delimiter.
    private static func contentEnd(_ body: [UInt8], _ start: Int, _ end: Int) -> Int {
        var end = end
        if end > start, body[end - 1] == 0x0A { end -= 1 }
        if end > start, body[end - 1] == 0x0D { end -= 1 }
        return end
    }

    private static func part(_ bytes: ArraySlice<UInt8>) throws(HubRequestFault) -> Part {
        var headers = HeaderList()
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let end = bytes[index...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let line = trimmed(bytes[index..<end])
            index = min(end + 1, bytes.endIndex)
            if line.isEmpty { return Part(headers: headers, content: bytes[index...]) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.count <= 1024, headers.fields.count < maximumHeaders
            else {
                throw HubRequestFault(at: "body", "a part has a malformed header")
            }
            headers.fields.append(
                HeaderField(
                    String(decoding: line[..<colon], as: UTF8.self).trimmingBlanks,
                    String(decoding: line[(colon + 1)...], as: UTF8.self).trimmingBlanks))
        }
        throw HubRequestFault(at: "body", "a part has no blank line behind its headers")
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> { line.last == 0x0D ? line.dropLast() : line }
}
