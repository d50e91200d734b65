/// The answer to a send that the hub has queued.
public struct RemoteReceipt: Hashable, Sendable {
    /// The hub's id of the notification, for telemetry and for cancelling; absent when the hub gave none.
    public var id: String?
    /// The id under which this send may be repeated when it is not known whether it arrived.
    public var requestID: String

    /// Creates a receipt.
    public init(id: String?, requestID: String) {
        self.id = id
        self.requestID = requestID
    }
}
