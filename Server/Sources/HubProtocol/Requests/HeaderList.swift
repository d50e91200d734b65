import WireText

/// The headers of a request in their order. Names compare without regard to case.
public struct HeaderList: Hashable, Sendable, ExpressibleByArrayLiteral {
    public var fields: [HeaderField]

    /// Creates a list.
    public init(_ fields: [HeaderField] = []) { self.fields = fields }

    public init(arrayLiteral fields: HeaderField...) { self.fields = fields }

    /// The first value under the name, without blanks at its ends; `nil` when there is none.
    public subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }.map { $0.value.trimmingBlanks }
    }

    /// Whether two names are the same header.
    static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.lowercased() == right.lowercased()
    }
}
