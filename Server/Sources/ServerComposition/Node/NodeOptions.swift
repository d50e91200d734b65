import APNsHTTP2
import AppBackend
import HTTPService
import Metrics
import PushHub
import RichPushModel
import SharedAccess

/// What a composition may add to a node beyond its settings. `serve` uses the defaults; the demo and tests do not.
public struct NodeOptions: Sendable {
    /// What checks a name and a password.
    public enum SignIn: Sendable {
        /// The passwords of the database.
        case passwords
        /// Any name signs in with itself as password. Refused unless the node listens on loopback only.
        case nameIsPassword
    }

    public var signIn: SignIn
    public var clock: any ServiceClock
    public var hubObserver: (any HubObserver)?
    public var backendObserver: (any BackendObserver)?
    public var clientObserver: (any APNsClientObserver)?
    /// Where everything is counted; the default is the process's own.
    public var metrics: any MetricsFactory = MetricsSystem.factory
    /// Called with the port of each listener once requests are answered there.
    public var onListening: @Sendable (NodeListener, Int) async -> Void = { _, _ in }
    /// Adds routes beside those of the node, for example the page of the simulated iPhone. Gets the node's app backend.
    public var addRoutes: @Sendable (ServiceRouter, RichPushBackend) -> Void = { _, _ in }
    /// How often the queue is polled without a signal; absent means the default.
    var pollInterval: Duration?
    /// What new password hashes cost; tests take less than the standard.
    package var passwordCost: PasswordHash.Cost = .standard
    /// What the page at `/` names first.
    package var links: [StartPage.Link] = []

    /// Creates options; the defaults are those of `serve`.
    public init(signIn: SignIn = .passwords, clock: any ServiceClock = .system) {
        self.signIn = signIn
        self.clock = clock
    }
}

/// The listeners of a node, as `NodeOptions.onListening` names them.
public enum NodeListener: String, Sendable, CaseIterable {
    /// HTTP/1.1, for this machine or a proxy.
    case plain
    /// HTTP/2 and HTTP/1.1 over TLS.
    case tls
    /// HTTP/2 without TLS, by prior knowledge.
    case priorKnowledge
}
