import Logging
import NIOCore
import RichPushModel

/// A strict FCM on this machine: token endpoint, HTTP v1 API and topics for any sender on one side, simulated phones on the other.
///
/// It judges requests as Google does and more strictly (Reference/FCM.md#7), keeps Google's quotas, and fails on demand. It shares no
/// code with any client, so that a mistake cannot hide on both sides.
public final class LocalFCM: Sendable {
    /// Where it listens.
    public struct Address: Sendable, Hashable {
        public var host: String
        public var port: Int
    }

    let core: FCMServiceCore
    private let listener: FCMListener

    /// Creates a service; nothing listens before `start`.
    ///
    /// - Parameter random: makes ids and tokens. A source with a seed makes a run repeatable, except for keys.
    public init(
        settings: LocalFCMSettings, clock: any ServiceClock, group: any EventLoopGroup, logger: Logger,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        core = FCMServiceCore(settings: settings, clock: clock, random: random)
        listener = FCMListener(core: core, group: group, logger: logger)
    }

    /// Listens. Refuses an address that other machines reach, unless the settings allow it. Throws `LocalFCMError`.
    @discardableResult
    public func start() async throws -> Address {
        Address(host: core.settings.host, port: try await listener.start())
    }

    /// Closes every connection and ends the streams of phones. It may not be started again.
    public func shutdown() async {
        await listener.shutdown()
        core.finish()
    }

    // MARK: Projects

    /// Makes a project known and returns its number. One that is there stays as it is.
    @discardableResult
    public func addProject(_ id: String, number: String? = nil) throws(LocalFCMError) -> String {
        try core.with { state throws(LocalFCMError) in try state.addProject(id, number: number) }
    }

    /// Changes what a project has switched on.
    public func changeProject(_ id: String, _ change: (inout LocalFCMProjectSettings) -> Void) throws(LocalFCMError) {
        try core.with { state throws(LocalFCMError) in try state.changeProject(id) { change(&$0.settings) } }
    }

    /// Makes a key of a service account, and the account if it is not there. Returns the key file in Google's JSON form.
    ///
    /// - Parameter tokenURL: where the holder gets access tokens; `nil` for this service itself.
    public func makeKey(
        project: String, account: String = LocalFCMSettings.standardAccount, maySend: Bool = true, tokenURL: String? = nil
    ) throws(LocalFCMError) -> String {
        try core.makeKey(project: project, account: account, maySend: maySend, tokenURL: tokenURL)
    }

    /// Revokes every access token that the service accounts of a project got.
    public func revokeAccessTokens(of project: String) { core.with { $0.revokeAccessTokens { $0.project == project } } }

    /// Ends the time of every access token that the service accounts of a project got.
    public func expireAccessTokens(of project: String) {
        let now = core.clock.now
        core.with { $0.expireAccessTokens(of: project, now: now) }
    }

    /// Every project, in the order of their ids.
    public var projects: [LocalFCMProjectStatus] {
        core.with { state in
            state.projects.values.sorted { $0.id < $1.id }
                .map { LocalFCMProjectStatus(id: $0.id, number: $0.number, settings: $0.settings) }
        }
    }

    /// How long access tokens are good that are made from now on.
    public var tokenLifetime: Duration {
        get { core.with { $0.tokenLifetime } }
        set { core.with { $0.tokenLifetime = newValue } }
    }

    /// What the service allows.
    public var quotas: LocalFCMQuotas {
        get { core.with { $0.quotas } }
        set { core.with { $0.quotas = newValue } }
    }

    // MARK: Devices

    /// Installs an app on a device. A device that is there stays as it is.
    public func addDevice(
        _ name: String, project: String, package: String, platform: DevicePlatform = .android
    ) throws(LocalFCMError) -> SimulatedAndroid {
        let now = core.clock.now
        try core.with { state throws(LocalFCMError) in
            try state.addDevice(name, project: project, package: package, platform: platform, now: now)
        }
        return SimulatedAndroid(name: name, core: core)
    }

    /// A device that is there.
    public func device(_ name: String) -> SimulatedAndroid? {
        core.with { $0.devices[name] != nil } ? SimulatedAndroid(name: name, core: core) : nil
    }

    /// The first devices in the order of their names, at most `limit`, and how many there are.
    ///
    /// - Parameter text: what the name has to contain; empty for every device.
    public func devices(named text: String = "", limit: Int) -> (first: [AndroidStatus], count: Int) {
        let now = core.clock.now
        return core.with { state in
            let (names, count) = state.deviceNames(containing: text, limit: limit)
            for name in names { state.expire(name, now: now) }
            return (names.compactMap { state.devices[$0]?.status($0, quotas: state.quotas) }, count)
        }
    }

    // MARK: What happened

    /// The present moment of the service's clock.
    public var now: Timestamp { core.clock.now }

    /// Requests, deliveries and what phones did, the newest of each.
    public var recorder: FCMRecorder { core.with { $0.recorder } }

    /// Requests and deliveries from here on. A second call takes the place of the first, whose stream ends. Of an observer that is slow,
    /// the oldest go.
    public var news: AsyncStream<FCMNews> { core.news() }

    /// Forgets what was recorded.
    public func clearRecorder() { core.with { $0.recorder.clear() } }

    // MARK: Failing on demand (Reference/FCM.md#7)

    /// Plans a fault for requests that pass every check, behind the faults that wait already.
    ///
    /// - Parameters:
    ///   - times: how many requests it strikes.
    ///   - after: how many it lets pass before.
    ///   - every: strikes every so many requests, until the faults are cleared, in place of the two others.
    public func inject(
        _ fault: FCMFault, at endpoint: LocalFCMEndpoint = .send, times: Int = 1, after: Int = 0, every: Int? = nil
    ) {
        core.with { $0.faults.add(fault, at: endpoint, times: times, after: after, every: every) }
    }

    /// Forgets the faults that wait.
    public func clearFaults() { core.with { $0.faults.clear() } }

    /// The faults that wait, in their order.
    public var plannedFaults: [FCMPlannedFault] { core.with { $0.faults.entries } }

    /// How many faults wait.
    public var waitingFaults: Int { core.with { $0.faults.count } }

    /// Whether new connections end as soon as they are there.
    public var refusesConnections: Bool {
        get { core.refusesConnections }
        set { core.refusesConnections = newValue }
    }

    // MARK: What outlasts a run

    /// Grows with every change of `keptState`.
    public var keptRevision: Int { core.with { $0.keptRevision } }

    /// What the next run needs to know, in an order that does not depend on chance.
    public var keptState: KeptFCM { core.with { $0.kept } }

    /// Restores the state of an earlier run; call it before `start`. Throws `LocalFCMError`, and has then restored nothing.
    public func restore(_ kept: KeptFCM) throws(LocalFCMError) {
        try core.with { state throws(LocalFCMError) in
            var restored = state
            try restored.restore(kept)
            state = restored
        }
    }
}
