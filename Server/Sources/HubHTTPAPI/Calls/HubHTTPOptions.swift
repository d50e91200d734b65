import HubProtocol
import Hummingbird
import PushHub
import RichPushModel

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
    /// First segments of paths that are no hubs, in lower case.
    public var reservedNames: Set<String>
    /// At most so many sends for each hub in a second; `nil` is as many as come.
    public var sendsPerSecond: Int?
    /// At most so many changes of registrations and installations for each hub in a second; `nil` is as many as come.
    public var writesPerSecond: Int?
    /// What test sends go through.
    public var transport: any PushTransport
    /// Jobs and their files; without them those resources do not exist.
    public var files: HubFiles?
    /// What `/` shows to people, where clients with a signature list the hubs; `nil` is the error for a missing signature.
    public var startPage: (@Sendable () -> Response)?

    /// Creates options.
    public init(
        clock: any ServiceClock = .system, limits: HubLimits = HubLimits(), publicHosts: [String] = [],
        origin: LinkOrigin = LinkOrigin(isBehindTLSProxy: true),
        protectedTagPrefixes: [String] = ["username:"], reservedNames: Set<String> = Self.reservedNames,
        sendsPerSecond: Int? = nil, writesPerSecond: Int? = nil, transport: any PushTransport,
        files: HubFiles? = nil
    ) {
        self.clock = clock
        self.limits = limits
        self.publicHosts = publicHosts
        self.origin = origin
        self.protectedTagPrefixes = protectedTagPrefixes.map { $0.lowercased() }
        self.reservedNames = reservedNames
        self.sendsPerSecond = sendsPerSecond
        self.writesPerSecond = writesPerSecond
        self.transport = transport
        self.files = files
    }

    /// The names that no hub can have; hidden files are asked for by programs that try every server.
    public static let reservedNames = Set(HubName.reserved).union([".well-known", ".git", ".env"])
}
