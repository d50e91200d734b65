/// The name under which a caller repeats a test send, and the id that this call would give it.
public struct TestSendKey: Hashable, Sendable {
    public var text: String
    public var id: NotificationID

    /// Creates a key.
    public init(_ text: String, id: NotificationID) {
        self.text = text
        self.id = id
    }
}

/// What storage says to the key of a test send.
public enum TestSendTaking: Hashable, Sendable {
    /// It is this caller's: send under this id, then keep the answer. The id is that of the first try, so that a push which left
    /// before that one died has the same `apns-id` as its repeat.
    case new(id: NotificationID)
    /// Another has it. The answer is absent while that one is still at it.
    case taken(id: NotificationID, answer: [UInt8]?)
}
