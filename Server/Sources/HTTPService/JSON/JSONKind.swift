/// The kinds of a JSON value.
public enum JSONKind: String, Sendable {
    case object
    case list
    case string
    case number
    case boolean
    case null
}
