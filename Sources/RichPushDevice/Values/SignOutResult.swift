/// What a sign-out could not bring to the server any more. It is gone: nothing of the user stays on the device.
public struct SignOutResult: Hashable, Sendable, Codable {
    /// Answers that the user wrote and that nobody will read: not taken before `DeviceLimits.signOutDeadline`, or refused for good.
    /// The user should be told.
    public var lostReplies: Int
    /// Receipts, and marks that something was read: the server does not know of these, so elsewhere it may still count as unread.
    public var lostNotes: Int

    /// Whether the server has everything.
    public var isComplete: Bool { lostReplies == 0 && lostNotes == 0 }

    /// Creates a result; without numbers that of a sign-out that lost nothing.
    public init(lostReplies: Int = 0, lostNotes: Int = 0) {
        self.lostReplies = lostReplies
        self.lostNotes = lostNotes
    }
}
