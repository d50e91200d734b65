/// One header of the hub protocol as it stands on the wire.
public struct HeaderField: Hashable, Sendable {
    public var name: String
    public var value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
