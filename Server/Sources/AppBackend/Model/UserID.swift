/// The internal number of a user. It is never reused and never leaves the server; people see the `UserName`.
public struct UserID: Hashable, Sendable, Comparable {
    public let number: Int64

    /// Creates an id.
    public init(_ number: Int64) { self.number = number }

    public static func < (left: UserID, right: UserID) -> Bool { left.number < right.number }
}
