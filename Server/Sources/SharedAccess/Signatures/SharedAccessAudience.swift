import WireText

/// The address that a token was made for: host and path only. Clients disagree about everything else
/// (Reference/AzureNotificationHubs.md#1-3), so scheme, port, query and fragment do not count.
struct SharedAccessAudience: Hashable, Sendable {
    /// In lower case, without port; an IPv6 address keeps its brackets.
    let host: String
    /// The segments of the path, decoded, in lower case, the empty ones left out.
    let path: [String]

    /// Reads the encoded text of `sr`; `nil` when it is no address with a known scheme and a plain host.
    init?(encoded: some StringProtocol) {
        guard let text = PercentEncoding.decodeVisible(encoded, plusIsBlank: true), let scheme = text.firstRange(of: "://"),
            ["http", "https", "sb"].contains(text[..<scheme.lowerBound].lowercased())
        else { return nil }
        let address = text[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = address.prefix { $0 != "/" }
        guard let host = Self.host(of: authority), let path = Self.segments(of: address[authority.endIndex...]) else {
            return nil
        }
        self.host = host
        self.path = path
    }

    /// Whether the token admits a request: its host is one of the names of this server, its path a segment-wise prefix of the request's.
    func admits(hosts: [String], path requestPath: String) -> Bool {
        guard hosts.contains(where: { Self.host(of: Substring($0)) == host }) else { return false }
        guard !path.isEmpty else { return true }
        guard let request = Self.segments(of: requestPath.prefix { $0 != "?" }) else { return false }
        return request.count >= path.count && zip(path, request).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// The name in front of a port, in lower case; `nil` for what carries a user or is no name.
    static func host(of authority: some StringProtocol) -> String? {
        let text = authority.lowercased()
        guard let name = text.hasPrefix("[") ? address(in: text) : label(in: text) else { return nil }
        let port = text[name.endIndex...]
        guard port.isEmpty || isPort(port.dropFirst(), after: port.first) else { return nil }
        return String(name)
    }

    /// `nil` for a broken escape, for `.` and `..`, and for an escaped slash: nothing here may look like a shorter or another path.
    private static func segments(of path: some StringProtocol) -> [String]? {
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let segment = PercentEncoding.decodeVisible(part)?.lowercased(), segment != ".", segment != "..",
                !segment.utf8.contains(UInt8(ascii: "/")), !segment.utf8.contains(UInt8(ascii: "\\"))
            else { return nil }
            segments.append(segment)
        }
        return segments
    }

    private static func isPort(_ digits: Substring, after separator: Character?) -> Bool {
        separator == ":" && digits.utf8.count <= 5
            && digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// An IPv6 address in brackets.
    private static func address(in text: String) -> Substring? {
        guard let end = text.firstIndex(of: "]") else { return nil }
        let inner = text[..<end].dropFirst()
        return !inner.isEmpty && inner.utf8.allSatisfy("0123456789abcdef:.".utf8.contains) ? text[...end] : nil
    }

    private static func label(in text: String) -> Substring? {
        let name = text.prefix { $0 != ":" }
        return !name.isEmpty && name.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789-._".utf8.contains) ? name : nil
    }
}
