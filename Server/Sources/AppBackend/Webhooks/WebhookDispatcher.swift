import AuditTrail
import Logging
import PushHub
import RichPushModel
import SharedAccess
import Synchronization

/// A signed request to a webhook.
public struct WebhookMessage: Sendable {
    /// Names in lower case.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    /// Creates a message.
    public init(headers: [(name: String, value: String)], body: [UInt8]) {
        self.headers = headers
        self.body = body
    }
}

/// What came of a request to a webhook.
public enum WebhookReply: Hashable, Sendable {
    /// An answer, with the seconds of its `Retry-After` and the beginning of its text.
    case status(Int, retryAfter: Int?, text: String)
    /// There was none, for this reason.
    case unreachable(String)
}

/// Connects to webhooks.
public protocol WebhookTransport: Sendable {
    /// Looks the host up, once for all requests on the connection. A host that may not be called answers nothing.
    func connect(to address: OutboundAddress) async -> any WebhookConnection
}

/// A way to one webhook.
public protocol WebhookConnection: Sendable {
    /// Makes one request, within `WebhookDispatcher.attemptTime`. No redirection is followed.
    func post(_ message: WebhookMessage) async -> WebhookReply

    /// Ends it; no request is under way.
    func close() async
}

/// Receives what attempts brought, for metrics.
public protocol WebhookObserver: Sendable {
    /// Called after each attempt.
    func attempted(_ result: WebhookAttempt.Result)
}

/// Delivers events to webhooks. Every node has one; a lease gives each webhook to one node at a time.
///
/// An event is tried until the receiver answers with a status of 2xx, at least once. Events of one subject come one after the other.
public final class WebhookDispatcher: Sendable {
    /// The longest that one request may take.
    public static let attemptTime: Duration = .seconds(15)
    /// How often leases and due events are looked for.
    static let interval: Duration = .milliseconds(500)
    /// How long a lease holds, and when it is lengthened.
    static let leaseTime: Duration = .seconds(60)
    static let renewal: Duration = .seconds(40)
    /// How many requests one webhook gets at the same time.
    public static let width = 16
    /// After how long a run ends and another begins, with a new lookup of the host.
    static let runTime: Duration = .seconds(60)

    let store: any BackendStore
    let transport: any WebhookTransport
    let secrets: WebhookSecrets
    let pace: WebhookPace
    let clock: any ServiceClock
    let observer: (any WebhookObserver)?
    let logger: Logger
    let owner: String
    private let state = Mutex(State())
    private let troubles: TroubleLog

    private struct State {
        var isShutDown = false
        var running: Set<Int64> = []
        /// The webhooks to which this node may deliver, and the uptime until which its lease certainly holds.
        var leases: [Int64: (webhook: Webhook, end: Duration)] = [:]
    }

    /// Creates the dispatcher of one node, which takes its leases as `owner`.
    public init(
        of backend: RichPushBackend, owner: String, transport: any WebhookTransport, observer: (any WebhookObserver)? = nil
    ) {
        let parts = backend.parts
        (store, secrets, clock, logger) = (parts.store, parts.webhookSecrets, parts.clock, parts.logger)
        pace = WebhookPace(firstPause: parts.settings.webhookRetryPause)
        self.transport = transport
        self.observer = observer
        self.owner = owner
        troubles = TroubleLog("Webhooks cannot be served", logger: logger)
    }

    /// Delivers until `shutDown` or cancellation. Storage that fails for a while is logged and tried again.
    public func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !isShutDown {
                do {
                    for lease in try await leases() where begin(lease.webhook.id) {
                        group.addTask { await self.work(lease) }
                    }
                    troubles.succeeded()
                } catch { troubles.failed(error) }
                do { try await clock.sleep(for: Self.interval) } catch { return }
            }
        }
        try? await store.releaseWebhooks(of: owner)
    }

    /// Begins nothing new; `run` ends when the requests under way have ended.
    public func shutDown() { state.withLock { $0.isShutDown = true } }

    /// Delivers what is due now, and waits for that.
    func deliverDue() async throws {
        for lease in try await leases() where begin(lease.webhook.id) { await work(lease) }
    }

    /// Whether new requests may be made for a webhook. Not when it was changed meanwhile: another run begins with what it is now.
    func mayWork(on webhook: Webhook) -> Bool {
        guard !Task.isCancelled else { return false }
        let uptime = clock.uptime
        return state.withLock { state in
            guard !state.isShutDown, let lease = state.leases[webhook.id] else { return false }
            return lease.end > uptime && lease.webhook == webhook
        }
    }

    private var isShutDown: Bool { state.withLock { $0.isShutDown } }

    private func leases() async throws -> [WebhookLease] {
        let begun = clock.uptime
        let now = clock.now
        let leases = try await store.leaseWebhooks(to: owner, until: now + Self.leaseTime, renewal: Self.renewal, at: now)
        // A lease that was not lengthened now holds longer than `renewal`, which leaves time for a request.
        let end = begun + Self.renewal - Self.attemptTime
        state.withLock { state in
            state.leases = Dictionary(uniqueKeysWithValues: leases.map { ($0.webhook.id, ($0.webhook, end)) })
        }
        return leases.filter { $0.health.pausedUntil.map { $0 <= now } ?? true }
    }

    private func begin(_ webhook: Int64) -> Bool { state.withLock { $0.running.insert(webhook).inserted } }

    private func work(_ lease: WebhookLease) async {
        do { try await WebhookRun(dispatcher: self, lease: lease).deliverDue() } catch { troubles.failed(error) }
        state.withLock { _ = $0.running.remove(lease.webhook.id) }
    }
}

/// When attempts are made again.
struct WebhookPace: Sendable {
    /// The pause after the first attempt of an event that fails, and the first pause of a webhook of which nothing succeeds.
    let firstPause: Duration
    /// Pauses of an event grow fourfold up to this.
    static let longestPause: Duration = .seconds(6 * 3600)
    /// With the first pause at five seconds the last attempt is made three days after the first.
    static let attempts = 18
    /// After so many failures without a success in between, a webhook is paused.
    static let streak = 20
    /// Pauses of a webhook double up to this.
    static let longestRest: Duration = .seconds(300)
    /// After so many pauses without a success the webhook is disabled, with pauses of five minutes after five days.
    static let rests = 1_440
    /// The most that a receiver may ask for with `Retry-After`.
    static let longestRetryAfter: Duration = .seconds(3600)

    /// How long to wait after an attempt, by its number from 1, with a quarter of jitter. `nil` after the last.
    func pause(afterAttempt number: Int) -> Duration? {
        guard number < Self.attempts else { return nil }
        return Self.jittered(Self.grown(firstPause, by: 4, times: number - 1, upTo: Self.longestPause))
    }

    /// How long a webhook rests for the time with this number, from 1.
    func rest(_ number: Int) -> Duration {
        Self.jittered(Self.grown(firstPause, by: 2, times: number - 1, upTo: Self.longestRest))
    }

    private static func grown(_ first: Duration, by factor: Int, times: Int, upTo limit: Duration) -> Duration {
        var pause = first
        for _ in 0..<max(0, times) where pause < limit { pause = pause * factor }
        return min(pause, limit)
    }

    private static func jittered(_ pause: Duration) -> Duration {
        pause + .milliseconds(Int64.random(in: 0...max(0, pause.wholeMilliseconds / 4)))
    }
}
