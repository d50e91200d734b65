/// The name under which a caller repeats a test send, and the id of this try.
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
    /// It is this caller's: send, then keep the answer.
    case new
    /// Another has it. The answer is absent while that one is still at it.
    case taken(id: NotificationID, answer: [UInt8]?)
}
