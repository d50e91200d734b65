import APNsProtocol
import RichPushModel

/// One request with its answer, for assertions and for the story of a demo.
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

/// An answer of APNs (Reference/APNs.md#4).
public struct APNsAnswer: Sendable, Hashable {
    public var status: Int
    /// Absent with status 200.
    public var reason: APNsReason?
    /// With status 410: since when the token is dead, in milliseconds since 1970.
    public var timestamp: Int64?
    /// Echoed as sent, or created in upper case. Broadcasts and the management carry it as `apns-request-id`.
    public var apnsID: String
    /// In the sandbox, with status 200; for broadcasts in both environments.
    public var uniqueID: String?
    /// The name of the header that carries `apnsID`.
    public internal(set) var idHeader = "apns-id"
    /// `apns-channel-id`, when a channel was created.
    public internal(set) var channelID: String?
    /// The management's description of a channel or of all of them, JSON.
    public internal(set) var content: String?

    /// The JSON body; `nil` when there is none.
    var body: String? {
        guard let reason else { return content }
        guard let timestamp else { return #"{"reason":"\#(reason.rawValue)"}"# }
        return #"{"reason":"\#(reason.rawValue)","timestamp":\#(timestamp)}"#
    }

    /// The same answer as a refusal.
    func refused(_ refusal: APNsRefusal) -> APNsAnswer {
        var answer = APNsAnswer(
            status: refusal.status, reason: refusal.reason, timestamp: refusal.timestamp, apnsID: apnsID)
        answer.idHeader = idHeader
        return answer
    }
}
