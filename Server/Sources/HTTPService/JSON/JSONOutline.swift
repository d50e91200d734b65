/// What kind of JSON a body is, and which fields it names.
public struct JSONOutline: Hashable, Sendable {
    /// The kinds of a JSON value.
    public enum Kind: String, Sendable {
        case object
        case list
        case string
        case number
        case boolean
        case null
    }

    /// The kind of the outermost value.
    public var kind: Kind
    /// The paths of all fields, for example `coupon.code`; elements of a list have no part of their own in them.
    public var fields: Set<String>

    /// Creates an outline.
    public init(kind: Kind, fields: Set<String> = []) {
        self.kind = kind
        self.fields = fields
    }
}
