import APNsProtocol
import RichPushModel

/// One request with its answer, for assertions and for the story that a demo tells.
public struct APNsExchange: Sendable, Hashable {
    /// A header field as it came.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: String
    }

    /// Counts the connections from 1.
    public var connection: Int
    public var stream: Int
    public var receivedAt: Timestamp
    public var method: String
    public var path: String
    /// Every field but the pseudo fields and `authorization`.
    public var headers: [Field]
    /// The device token of the path as sent; `nil` on other paths.
    public var token: String?
    /// How many bytes the body had.
    public var payloadSize: Int
    /// The body, cut at 8,192 bytes.
    public var payload: [UInt8]
    /// What was answered; `nil` when a fault swallowed the request.
    public var answer: APNsAnswer?
    /// The fault that was injected into this exchange.
    public var fault: InjectedFault?
}
