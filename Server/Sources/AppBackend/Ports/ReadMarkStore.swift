import RichPushModel

/// Keeps what each user has read. Errors are `ServiceError`.
public protocol ReadMarkStore: Sendable {
    /// Marks a notification read or unread for a user.
    func setRead(_ read: Bool, of id: RichID, for user: UserID, at now: Timestamp) async throws

    /// Which of the notifications the user has read.
    func readMarks(among ids: [RichID], of user: UserID) async throws -> Set<RichID>
}
