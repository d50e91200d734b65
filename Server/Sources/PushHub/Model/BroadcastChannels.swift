import RichPushModel
import ServiceErrors

/// The broadcast channels of an app at its push service: one request reaches all devices that follow a channel (Reference/APNs.md#5).
///
/// Errors are `ServiceError`: `not-found` for a channel that does not exist any more, `quota-exceeded` when the app has as many as it may
/// have, `conflict` where the app has no channels, `not-ready` when another try may help.
public protocol BroadcastChannels: Sendable {
    /// Creates a channel, and returns its id. `keepsLatest` is whether a device that follows later, or was offline, gets the latest push.
    func create(keepsLatest: Bool) async throws(ServiceError) -> String

    /// Deletes a channel permanently.
    func delete(_ channel: String) async throws(ServiceError)

    /// The ids of all channels of the app, also those that others have made.
    func channels() async throws(ServiceError) -> [String]

    /// Sends one push to all devices that follow a channel.
    func publish(_ push: ChannelPush) async throws(ServiceError)
}

/// A push to a channel.
public struct ChannelPush: Hashable, Sendable {
    public var channel: String
    public var body: [UInt8]
    public var priority: Int
    /// Until when it is kept for devices that are offline; absent for a channel that keeps nothing.
    public var expiresAt: Timestamp?

    /// Creates a push.
    public init(channel: String, body: [UInt8], priority: Int, expiresAt: Timestamp?) {
        self.channel = channel
        self.body = body
        self.priority = priority
        self.expiresAt = expiresAt
    }
}
