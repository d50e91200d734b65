/// A JSON value that keeps the order of members and the text of numbers, so that what a client stored comes back as it was.
public indirect enum WireJSON: Hashable, Sendable {
    /// One member of an object.
    public struct Member: Hashable, Sendable {
        public var name: String
        public var value: WireJSON

        /// Creates a member.
        public init(_ name: String, _ value: WireJSON) {
            self.name = name
            self.value = value
        }
    }

    case null
    case bool(Bool)
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([WireJSON])
    case object([Member])

    /// Reads one value. Nesting is at most 32 deep, values are at most 50,000; the fault says the byte, counted from 1.
    public init(parsing bytes: some Collection<UInt8>) throws(HubRequestFault) {
        self = try WireJSONReader.document(Array(bytes))
    }

    /// The value of an object's member: the last under the name, without regard to ASCII case; `nil` when it is absent or
    /// `null`, which clients send for absent members (Reference/AzureNotificationHubs.md#5-1).
    public subscript(name: String) -> WireJSON? {
        guard case .object(let members) = self else { return nil }
        let folded = name.lowercased()
        return members.last { ($0.name == name || $0.name.lowercased() == folded) && $0.value != .null }?.value
    }

    /// The value as JSON text without blanks.
    public var text: String {
        var writer = WireJSONWriter()
        writer.write(self)
        return writer.text
    }

    /// A string as it is; a number or a truth as its JSON text; `nil` for anything else.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let text): text
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
