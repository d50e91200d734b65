/// A request as bytes, right or wrong.
struct WireRequest: Sendable {
    var method: String
    /// Path and query.
    var target: [UInt8]
    var headers: [(name: [UInt8], value: [UInt8])] = []
    var body: [UInt8]
    /// Sent in chunks, without a length.
    var isChunked = false

    init(_ method: String, _ target: String, _ headers: [(name: String, value: String)] = [], body: String = "") {
        self.method = method
        self.target = Array(target.utf8)
        self.headers = headers.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        self.body = Array(body.utf8)
    }

    mutating func set(_ name: String, _ value: String) {
        headers.removeAll { String(decoding: $0.name, as: UTF8.self).lowercased() == name.lowercased() }
        headers.append((Array(name.utf8), Array(value.utf8)))
    }

    /// As HTTP/1.1 writes it; the length of the body is right whatever else is wrong.
    func bytes(host: String) -> [UInt8] {
        var bytes = Array("\(method) ".utf8) + target + Array(" HTTP/1.1\r\nHost: \(host)\r\n".utf8)
        for header in headers { bytes += header.name + Array(": ".utf8) + header.value + [13, 10] }
        if isChunked {
            bytes += Array("Transfer-Encoding: chunked\r\n\r\n".utf8)
            for start in stride(from: 0, to: body.count, by: 700) {
                let chunk = body[start..<min(body.count, start + 700)]
                bytes += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10]
            }
            return bytes + Array("0\r\n\r\n".utf8)
        }
        if !body.isEmpty || method != "GET" { bytes += Array("Content-Length: \(body.count)\r\n".utf8) }
        return bytes + [13, 10] + body
    }

    /// What of it a client of HTTP/2 can send: header fields without control characters, one host, an address in ASCII.
    ///
    /// The client in use cannot divide header fields among frames, so fields for which there is no room in one frame (16,384 bytes) are
    /// left out.
    var carriedByHTTP2: (target: String, headers: [(name: String, value: String)]) {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?&=$'+,:;@!()*".utf8)
        let hex = Set("0123456789abcdefABCDEF".utf8)
        var target = ""
        for (index, byte) in self.target.enumerated() {
            let next = self.target[min(index + 1, self.target.count)..<min(index + 3, self.target.count)]
            if plain.contains(byte) || (byte == UInt8(ascii: "%") && next.count == 2 && next.allSatisfy(hex.contains)) {
                target.append(Character(Unicode.Scalar(byte)))
            } else {
                target += byte < 16 ? "%0\(String(byte, radix: 16))" : "%\(String(byte, radix: 16))"
            }
        }
        let name = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        var room = 15_900 - target.utf8.count
        let fields = headers.compactMap { field -> (name: String, value: String)? in
            guard !field.name.isEmpty, field.name.allSatisfy(name.contains) else { return nil }
            guard String(decoding: field.name, as: UTF8.self).lowercased() != "host" else { return nil }
            // Huffman's code has six bits for this letter, and what it does not shorten is sent as it is.
            let isShort = field.value.allSatisfy { $0 == UInt8(ascii: "h") }
            room -= field.name.count + 12 + (isShort ? field.value.count * 3 / 4 : field.value.count)
            guard room > 0 else { return nil }
            let value = field.value.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }
            return (String(decoding: field.name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        }
        return (target.hasPrefix("/") ? target : "/" + target, fields)
    }

    /// For the message of a test that failed.
    var summary: String {
        let head = headers.map {
            "\(String(decoding: $0.name, as: UTF8.self)): \(String(decoding: $0.value.prefix(200), as: UTF8.self))"
        }
        return
            ([method + " " + String(decoding: target.prefix(300), as: UTF8.self)] + head.filter { !$0.hasPrefix("Authorization") })
            .joined(separator: " | ") + " | " + String(decoding: body.prefix(1_000), as: UTF8.self)
    }
}

/// What came back.
struct WireAnswer: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8] = []

    var text: String { String(decoding: body, as: UTF8.self) }
    var closes: Bool { headers["connection"]?.lowercased() == "close" }
}

/// A client that sends requests on a connection of its own.
protocol WireCaller: Sendable {
    func exchange(_ request: WireRequest) async throws -> WireAnswer
}
