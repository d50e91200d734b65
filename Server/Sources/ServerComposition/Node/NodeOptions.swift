import APNsHTTP2
import AppBackend
import HTTPService
import Metrics
import PushHub
import RichPushModel
import SharedAccess

/// What a composition may add to a node beyond its settings. `serve` uses the defaults; the demo and tests do not.
public struct NodeOptions: Sendable {
    /// Who says that a name and a password belong together.
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
    public var metrics: any MetricsFactory
    /// Is told the port of each listener once requests are answered there.
    public var onListening: @Sendable (NodeListener, Int) async -> Void
    /// Adds routes beside those of the node, for example the page of the simulated iPhone.
    public var addRoutes: @Sendable (ServiceRouter) -> Void
    /// How often the queue is looked at when nobody calls; absent means as usual.
    var pollInterval: Duration?
    /// What new password hashes cost; tests take less than the standard.
    package var passwordCost: PasswordHash.Cost = .standard
    /// What the page at `/` names first.
    package var links: [StartPage.Link] = []

    /// Creates options; the defaults are those of `serve`.
    public init(
        signIn: SignIn = .passwords, clock: any ServiceClock = .system, hubObserver: (any HubObserver)? = nil,
        backendObserver: (any BackendObserver)? = nil, clientObserver: (any APNsClientObserver)? = nil,
        metrics: any MetricsFactory = MetricsSystem.factory,
        onListening: @escaping @Sendable (NodeListener, Int) async -> Void = { _, _ in },
        addRoutes: @escaping @Sendable (ServiceRouter) -> Void = { _ in }
    ) {
        self.signIn = signIn
        self.clock = clock
        self.hubObserver = hubObserver
        self.backendObserver = backendObserver
        self.clientObserver = clientObserver
        self.metrics = metrics
        self.onListening = onListening
        self.addRoutes = addRoutes
    }
}
