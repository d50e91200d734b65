import Logging
import NIOCore
import RichPushModel

/// A strict push service for Web Push on this machine: Mozilla's protocol for browsers on one side, RFC 8030 for any sender on the other.
///
/// A real Firefox takes it by the preferences of Reference/WebPush.md#7-1, and a `SimulatedBrowser` stands in where none is installed. It
/// judges requests as Mozilla's service does and more strictly (Reference/WebPush.md#8-1), and fails on demand.
public final class LocalWebPush: Sendable {
    /// Where it listens.
    public struct Address: Sendable, Hashable {
        public var host: String
        public var port: Int
    }

    let core: PushServiceCore
    private let listener: PushListener

    /// Creates a service; nothing listens before `start`.
    ///
    /// - Parameter random: makes ids, tokens and the key that seals them. A source with a seed makes a run repeatable.
    public init(
        settings: LocalWebPushSettings = LocalWebPushSettings(), clock: any ServiceClock, group: any EventLoopGroup,
        logger: Logger,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        core = PushServiceCore(settings: settings, clock: clock, random: random)
        listener = PushListener(core: core, group: group, logger: logger)
    }

    /// Listens. Refuses an address that other machines reach, unless the settings allow it. Throws `LocalWebPushError`.
    @discardableResult
    public func start() async throws -> Address {
        Address(host: core.settings.host, port: try await listener.start())
    }

    /// Closes every connection. It may not be started again.
    public func shutdown() async { await listener.shutdown() }

    // MARK: What happened

    /// Requests, deliveries and reports, the newest of each.
    public var recorder: PushRecorder { core.with { $0.recorder } }

    /// Forgets what was recorded.
    public func clearRecorder() { core.with { $0.recorder.clear() } }

    /// Scheme, host and port of the endpoints, which is the audience of VAPID.
    public var origin: String { core.with { $0.origin } }

    /// The users that are known, in the order of their ids.
    public var users: [String] { core.with { $0.users.keys.sorted() } }

    /// How many messages wait for a browser, those under way included; `nil` for an unknown one.
    public func waitingMessages(for uaid: String) -> Int? { core.with { $0.users[uaid]?.messages.count } }

    /// Whether a browser is connected.
    public func isConnected(_ uaid: String) -> Bool { core.with { $0.users[uaid]?.connection != nil } }

    // MARK: Failing on demand (Reference/WebPush.md#8-2)

    /// Plans a fault for the next messages that pass every check, behind the faults that wait already.
    public func inject(_ fault: SenderFault, times: Int = 1) { core.with { $0.faults.add(fault, times: times) } }

    /// Forgets the faults that wait.
    public func clearFaults() { core.with { $0.faults.clear() } }

    /// How many faults wait.
    public var waitingFaults: Int { core.with { $0.faults.count } }

    /// Whether new connections, of senders and of browsers, end as soon as they are there.
    public var refusesConnections: Bool {
        get { core.refusesConnections }
        set { core.refusesConnections = newValue }
    }

    /// Ends the connections of all browsers.
    ///
    /// - Parameter staysAway: with the code after which Firefox does not connect again by itself (Reference/WebPush.md#6-3).
    public func closeBrowsers(staysAway: Bool = false) { core.closeAll(staysAway ? .stayAway : .goingAway) }

    /// Forgets a browser with its subscriptions: its endpoints are answered 410, and its next `hello` brings a new id.
    public func reset(_ uaid: String) { core.reset(uaid) }

    /// Ends a subscription without its browser, which is not informed. Its endpoint is answered 410 from now on.
    public func endSubscription(channelID: String, of uaid: String) {
        let now = core.clock.now
        core.with { $0.unsubscribe(channelID, of: uaid, code: 200, now: now) }
    }
}
