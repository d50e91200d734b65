import APNsProtocol

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
    /// What the management tells of a channel or of all of them, JSON.
    public internal(set) var content: String?

    init(status: Int, reason: APNsReason? = nil, timestamp: Int64? = nil, apnsID: String, uniqueID: String? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.apnsID = apnsID
        self.uniqueID = uniqueID
    }

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
