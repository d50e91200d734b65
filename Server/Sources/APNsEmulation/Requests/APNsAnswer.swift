import APNsProtocol

/// An answer of APNs (APNs reference 4).
public struct APNsAnswer: Sendable, Hashable {
    public var status: Int
    /// Absent with status 200.
    public var reason: APNsReason?
    /// With status 410: since when the token is dead, in milliseconds since 1970.
    public var timestamp: Int64?
    /// Echoed as sent, or created in upper case.
    public var apnsID: String
    /// In the sandbox, with status 200.
    public var uniqueID: String?

    init(status: Int, reason: APNsReason? = nil, timestamp: Int64? = nil, apnsID: String, uniqueID: String? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.apnsID = apnsID
        self.uniqueID = uniqueID
    }

    /// The JSON body; `nil` when there is none.
    var body: String? {
        guard let reason else { return nil }
        guard let timestamp else { return #"{"reason":"\#(reason.rawValue)"}"# }
        return #"{"reason":"\#(reason.rawValue)","timestamp":\#(timestamp)}"#
    }
}
