import HTTPService
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

/// What the hub's HTTP interface needs besides the hubs.
public struct HubHTTPOptions: Sendable {
    public var clock: any ServiceClock
    /// The bounds of every request.
    public var limits: HubLimits
    /// Names of this server besides those in `Host`, for tokens made for the name in front of a proxy; with or without port.
    public var publicHosts: [String]
    /// How links begin, and which scheme a `Location` has.
    public var origin: LinkOrigin
    /// Prefixes of tags that a key with nothing but the right Listen cannot set, in lower case.
    public var protectedTagPrefixes: [String]
    /// At most so many sends for each hub in a second; `nil` is as many as come.
    public var sendsPerSecond: Int?
    /// At most so many changes of registrations and installations for each hub in a second; `nil` is as many as come.
    public var writesPerSecond: Int?
    /// What test sends go through.
    public var transport: any PushTransport
    /// Jobs and their files; without them those resources do not exist.
    public var files: HubFiles?
    /// The network that a request came from, as the audit names it.
    public var network: @Sendable (Request, ServiceRequestContext) -> String = { _, _ in "" }
    /// Is called when a key may not manage hubs and asked for it.
    public var onRefusal: @Sendable (HubRefusal, Request, ServiceRequestContext) async -> Void = { _, _, _ in }
    /// What `/` shows in a browser, where clients with a signature list the hubs; `nil` is the error for a missing signature.
    public var startPage: (@Sendable () -> Response)?

    public init(
        clock: any ServiceClock = .system, limits: HubLimits = HubLimits(), publicHosts: [String] = [],
        origin: LinkOrigin = LinkOrigin(isBehindTLSProxy: true),
        protectedTagPrefixes: [String] = ["username:"],
        sendsPerSecond: Int? = nil, writesPerSecond: Int? = nil, transport: any PushTransport,
        files: HubFiles? = nil
    ) {
        self.clock = clock
        self.limits = limits
        self.publicHosts = publicHosts
        self.origin = origin
        self.protectedTagPrefixes = protectedTagPrefixes.map { $0.lowercased() }
        self.sendsPerSecond = sendsPerSecond
        self.writesPerSecond = writesPerSecond
        self.transport = transport
        self.files = files
    }
}

/// A key that was refused the management of hubs. It is a real one: its signature was right.
public struct HubRefusal: Sendable, Hashable {
    /// The name of its rule.
    public let rule: String
    /// The hub that it is a key of; `nil` for one of all hubs.
    public let keyHub: String?
    /// What was asked for.
    public let operation: HubOperation
    /// The hub in the path; empty for the list of hubs.
    public let hub: String
}

/// Scheme and authority of the links to files, which the client that asked must be able to reach.
///
/// A request has the name and port that its sender used, and this process knows whether it terminated TLS. Only the settings say
/// what proxy is in front of it.
public struct LinkOrigin: Sendable, Hashable {
    /// How clients reach the server, `https://push.example.com`, where that was set.
    public var publicURL: String?
    /// Whether a proxy in front ends TLS, so that what arrives without may have come with it.
    public var isBehindTLSProxy: Bool

    public init(publicURL: String? = nil, isBehindTLSProxy: Bool) {
        self.publicURL = publicURL
        self.isBehindTLSProxy = isBehindTLSProxy
    }

    /// The scheme with which the sender of a request came, as far as this process and the settings know.
    func scheme(isSecure: Bool) -> String {
        isSecure || isBehindTLSProxy || publicURL?.lowercased().hasPrefix("https:") == true ? "https" : "http"
    }

    /// The beginning of links in the answer to a request for that authority.
    func base(for authority: String, isSecure: Bool) -> String {
        if isSecure { return "https://\(authority)" }
        // Only a client on this machine uses such a name, or a proxy that does not forward the original one.
        if SharedAccessEndpoint("http://\(authority)/") != nil { return publicURL ?? "http://\(authority)" }
        if let publicURL, publicURL.lowercased().hasSuffix("://\(authority.lowercased())") { return publicURL }
        return "\(isBehindTLSProxy ? "https" : "http")://\(authority)"
    }
}

/// Which hubs there are, who may use them, and how they are changed. Errors are `ServiceError`.
public struct HubDirectory: Sendable {
    let catalog: HubCatalog
    let registry: HubRegistry
    private let make: @Sendable (CatalogHub) -> NotificationHub

    /// Creates a directory. `make` puts a hub together with the parts of this process.
    public init(catalog: HubCatalog, registry: HubRegistry, make: @escaping @Sendable (CatalogHub) -> NotificationHub) {
        self.catalog = catalog
        self.registry = registry
        self.make = make
    }

    /// The hub with this name, without regard to case, or `nil`.
    func hub(named name: String) async throws -> ServedHub? {
        guard let found = try await catalog.hub(named: name) else { return nil }
        return ServedHub(
            record: found.record, hub: make(found), rules: found.rules)
    }
}

/// A hub that is served, with its keys.
final class ServedHub: Sendable {
    let record: HubRecord
    let hub: NotificationHub
    let rules: [AccessRule]
    /// Whether a key with nothing but the right Listen, which stands in apps, may set tags with a protected prefix.
    var trustsDeviceKeys: Bool { record.details.allowsProtectedTags }

    init(record: HubRecord, hub: NotificationHub, rules: [AccessRule]) {
        self.record = record
        self.hub = hub
        self.rules = rules
    }
}

/// Keeps the calls of a hub below a rate: a bucket of tokens for each hub, filled evenly, that holds one second's worth.
///
/// A refusal says after how many whole seconds there is room again, which every client understands as "retry later"
/// (Reference/AzureNotificationHubs.md#6-3). Bounded by the number of hubs.
final class RequestThrottle<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tokens: Double
        var filledAt: Duration
    }

    /// Calls per second; `nil` lets everything through.
    private let rate: Double?
    private let clock: any ServiceClock
    private let buckets = Mutex<[Key: Bucket]>([:])

    init(perSecond rate: Int?, clock: any ServiceClock) {
        self.rate = rate.map(Double.init)
        self.clock = clock
    }

    /// Takes one token, or throws `too-many-requests` with the wait.
    func admit(_ key: Key) throws(ServiceError) {
        guard let rate else { return }
        let now = clock.uptime
        let wait: Double = buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(tokens: rate, filledAt: now)
            bucket.tokens = min(rate, bucket.tokens + (now - bucket.filledAt).inSeconds * rate)
            bucket.filledAt = now
            let isAdmitted = bucket.tokens >= 1
            if isAdmitted { bucket.tokens -= 1 }
            buckets[key] = bucket
            return isAdmitted ? 0 : (1 - bucket.tokens) / rate
        }
        if wait > 0 {
            throw ServiceError(
                .tooManyRequests, "this hub takes at most \(Int(rate)) of these calls in a second",
                retryAfter: max(1, Int(wait.rounded(.up))))
        }
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
