import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The push service as a simulated phone sees it. A composition adapts the local APNs to it.
public protocol SimulatedPushService: Sendable {
    /// The device token of an app on a device, hexadecimal. The same until the app is installed anew.
    func register(device: String, topic: String) async throws -> String
    /// The pushes for a device from now on, beginning with what was stored while it was away. A second connection of a device
    /// ends the first. The stream ends when the service does.
    func connect(device: String) async throws -> AsyncStream<IncomingPush>
    /// The app left the device, or the device is another one: the token is good no longer, and the next `register` gives another.
    func unregister(device: String, topic: String) async
    /// The device goes away; pushes are stored from now on.
    func disconnect(device: String) async
}

/// A push as it reaches a device.
public struct IncomingPush: Hashable, Sendable {
    /// The JSON, untouched.
    public var payload: Data
    /// `alert` or `background`.
    public var pushType: String
    public var apnsID: String
    public var collapseID: String?
    /// The app it is for.
    public var topic: String
    /// Counts up in the order of arrival, where that is known.
    var order = 0

    /// Describes a push.
    public init(payload: Data, pushType: String, apnsID: String, collapseID: String?, topic: String) {
        self.payload = payload
        self.pushType = pushType
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.topic = topic
    }
}
