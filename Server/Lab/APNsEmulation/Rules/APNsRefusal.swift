import APNsProtocol

/// The answer to a request that a check refuses.
struct APNsRefusal: Sendable, Hashable {
    var status: Int
    var reason: APNsReason
    /// Milliseconds since 1970, with status 410.
    var timestamp: Int64?

    init(_ status: Int, _ reason: APNsReason, timestamp: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }
}
