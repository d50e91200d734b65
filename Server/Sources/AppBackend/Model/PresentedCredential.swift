/// What a request carries to say who makes it. Never printed.
public enum PresentedCredential: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// User name and password (RFC 7617), already decoded.
    case basic(user: String, password: String)
    /// An installation credential in its text form.
    case bearer(String)

    public var description: String {
        switch self {
        case .basic: "basic credential (not shown)"
        case .bearer: "bearer credential (not shown)"
        }
    }

    public var debugDescription: String { description }
}
