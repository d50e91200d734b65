/// The address of a hub's server as a connection string gives it: `sb://host[:port]/`.
public struct SharedAccessEndpoint: Sendable, Hashable {
    /// How the server is spoken to.
    public enum Scheme: String, Sendable, Hashable {
        /// The usual spelling; clients speak HTTPS to it.
        case serviceBus = "sb"
        case https = "https"
        /// Only for this machine: keys sign, but content and tokens would travel in the open.
        case http = "http"
    }

    public let scheme: Scheme
    /// In lower case; an IPv6 address stands in brackets.
    public let host: String
    public let port: Int?
    /// Without a final slash; empty as a rule.
    public let path: String

    /// Creates an endpoint; `nil` for a host that is no name or address, for a port out of range, for plain HTTP to another machine.
    public init?(scheme: Scheme = .serviceBus, host: String, port: Int? = nil, path: String = "") {
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        guard let plain = SharedAccessAudience.host(of: name), plain == name.lowercased(),
            port.map({ (1...65535).contains($0) }) ?? true,
            scheme != .http || Self.isLoopback(plain), path.utf8.allSatisfy(Self.isPathByte)
        else { return nil }
        self.scheme = scheme
        self.host = plain
        self.port = port
        let trimmed = path.split(separator: "/").joined(separator: "/")
        self.path = trimmed.isEmpty ? "" : "/" + trimmed
    }

    /// Reads `scheme://host[:port]/[path]`.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard let mark = text.firstRange(of: "://"), let scheme = Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else {
            return nil
        }
        let authority = text[mark.upperBound...].prefix { $0 != "/" }
        guard let host = SharedAccessAudience.host(of: authority) else { return nil }
        let rest = authority.dropFirst(host.count)
        let port = rest.dropFirst()
        guard rest.isEmpty || Int(port) != nil else { return nil }
        self.init(scheme: scheme, host: host, port: Int(port), path: String(text[authority.endIndex...]))
    }

    /// As it stands in a connection string, with the final slash that clients need.
    public var text: String { "\(scheme.rawValue)://\(authority)\(path)/" }

    /// Where requests go, without a final slash: `https` unless the endpoint says plain `http`.
    public var baseURL: String { "\(scheme == .http ? "http" : "https")://\(authority)\(path)" }

    /// Host, and port if there is one.
    public var authority: String { port.map { "\(host):\($0)" } ?? host }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/-._~".utf8.contains(byte)
        }
    }
}
