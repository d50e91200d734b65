/// What a client needs to reach a hub: `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`
/// (Reference/AzureNotificationHubs.md#1-1). The hub's name is not part of it. Prints without its key.
public struct ConnectionString: Sendable, Hashable {
    /// The most bytes that are looked at.
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
