import WireText

/// What a client needs to reach a hub: `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`
/// (Reference/AzureNotificationHubs.md#1-1). The hub's name is not part of it. Prints without its key.
public struct ConnectionString: Sendable, Hashable {
    /// The most bytes that are parsed.
    public static let maximumLength = 2048

    public let endpoint: SharedAccessEndpoint
    public let keyName: String
    public let key: SharedAccessKey

    /// Creates a connection string; throws for a name that is empty, too long, or cannot stand in one.
    public init(endpoint: SharedAccessEndpoint, keyName: String, key: SharedAccessKey) throws(ConnectionStringFault) {
        guard (1...AccessRule.maximumNameLength).contains(keyName.utf8.count),
            keyName.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") })
        else { throw .invalidKeyName }
        self.endpoint = endpoint
        self.keyName = keyName
        self.key = key
    }

    /// Reads the text, its fields in any order, their names in any case; fields of other names are ignored.
    public init(_ text: String) throws(ConnectionStringFault) {
        let fields = try Self.fields(of: text)
        if fields["sharedsecretissuer"] != nil { throw .oldCredential }
        guard let endpoint = fields["endpoint"] else { throw .missing("Endpoint") }
        guard let name = fields["sharedaccesskeyname"] else { throw .missing("SharedAccessKeyName") }
        guard let key = fields["sharedaccesskey"] else { throw .missing("SharedAccessKey") }
        guard let address = SharedAccessEndpoint(endpoint) else { throw .invalidEndpoint }
        guard let key = SharedAccessKey(String(key)) else { throw .invalidKey }
        try self.init(endpoint: address, keyName: String(name), key: key)
    }

    /// The portable text that every client reads: three fields in this order, a final slash after the endpoint. It holds the key: for
    /// the one answer that hands it out, never for a log.
    public var text: String { "Endpoint=\(endpoint.text);SharedAccessKeyName=\(keyName);SharedAccessKey=\(key.text)" }

    /// Values end at `;` and may hold `=`.
    private static func fields(of text: String) throws(ConnectionStringFault) -> [String: Substring] {
        guard text.utf8.count <= maximumLength else { throw .malformed }
        var fields: [String: Substring] = [:]
        for part in text.split(separator: ";").map(trimmed) where !part.isEmpty {
            guard let equals = part.firstIndex(of: "=") else { throw .malformed }
            let name = trimmed(part[..<equals]).lowercased()
            guard fields.updateValue(trimmed(part[part.index(after: equals)...]), forKey: name) == nil else { throw .malformed }
        }
        return fields
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension ConnectionString: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "connection string for \(endpoint.text) as \(keyName) (key not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["endpoint": endpoint.text, "keyName": keyName]) }
}

/// What is wrong with a connection string. Nothing of its values is in the words.
public enum ConnectionStringFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part without `=`, a field that comes twice, or a text that is too long.
    case malformed
    /// A field is missing.
    case missing(String)
    case invalidEndpoint
    case invalidKeyName
    case invalidKey
    /// A string of the old access control service, which has issuer and secret.
    case oldCredential

    public var description: String {
        switch self {
        case .malformed: "a connection string is Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…, each field once"
        case .missing(let field): "the connection string has no \(field)"
        case .invalidEndpoint: "Endpoint must be sb://host[:port]/ (http:// only for this machine)"
        case .invalidKeyName: "SharedAccessKeyName must have 1 to 256 characters, none of them a control character or ';'"
        case .invalidKey: "SharedAccessKey must have 1 to 256 printable characters"
        case .oldCredential:
            "connection strings with SharedSecretIssuer are of a retired service; make one with a shared access key"
        }
    }
}

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
            scheme != .http || Self.isLoopback(plain),
            path.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "/-._~".utf8.contains($0) })
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
}
