import APNsProtocol
import LocalCertificates
import Logging
import NIOCore
import RichPushModel

/// A strict APNs on this machine: provider API over TLS and HTTP/2 on one side, devices that connect on the other.
///
/// It judges requests as Apple does (Reference/APNs.md#7-2), stores and forwards as Apple does (Reference/APNs.md#7-3), and
/// fails on demand. It shares no code with any client but the vocabulary, so that a mistake cannot hide on both sides.
public final class LocalAPNs: Sendable {
    /// Sandbox or production.
    public typealias Environment = APNsEnvironment

    /// Where it listens.
    public struct Address: Sendable, Hashable {
        public var host: String
        public var port: Int
        /// The port of the channel management; `nil` if the configuration leaves it out.
        public var managementPort: Int?
    }

    let core: EmulatorCore
    /// The provider's listener, and that of the channel management if there is one.
    let listeners: [Listener]
    let authority: LocalCertificateAuthority

    /// Creates an emulator; nothing listens before `start`. Throws `LocalAPNsError`, or the error of the certificate
    /// library if no authority could be made.
    public init(
        configuration: LocalAPNsConfiguration, clock: any ServiceClock, group: any EventLoopGroup, logger: Logger
    ) throws {
        let authority = try configuration.authority ?? .create(now: clock.now)
        let core = EmulatorCore(configuration: configuration, clock: clock)
        (self.authority, self.core) = (authority, core)
        let services: [(APNsService, Int?)] = [
            (.provider, configuration.port), (.channelManagement, configuration.managementPort),
        ]
        listeners = services.compactMap { service, port in
            guard let port else { return nil }
            return Listener(
                service, port: port, configuration: configuration, authority: authority, core: core, group: group,
                logger: logger)
        }
    }

    /// The environment that it plays.
    public var environment: Environment { core.configuration.environment }

    /// The certificate that a client has to trust, in PEM.
    public var certificateAuthorityPEM: String { authority.certificatePEM }

    /// Listens. Refuses an address that other machines reach, unless the configuration allows it. Throws `LocalAPNsError`.
    @discardableResult
    public func start() async throws -> Address {
        var ports: [APNsService: Int] = [:]
        do {
            for listener in listeners { ports[listener.service] = try await listener.start() }
        } catch {
            // A port that is taken must not leave the other one open; starting twice must not end what runs.
            if error as? LocalAPNsError != .alreadyStarted { for listener in listeners { await listener.shutdown() } }
            throw error
        }
        return Address(
            host: core.configuration.host, port: ports[.provider] ?? 0, managementPort: ports[.channelManagement])
    }

    /// Sends GOAWAY, closes every connection and ends the streams of the devices. It may not be started again.
    public func shutdown() async {
        for listener in listeners { await listener.shutdown() }
        core.finish()
    }

    /// Makes the public half of a provider key known.
    ///
    /// - Parameters:
    ///   - environment: `nil` for a key of both environments, as legacy keys are.
    ///   - topics: the bundle ids of a topic-specific key; `nil` for a team-scoped key (Reference/APNs.md#2-2).
    ///   - relatedKeyID: the one key that a connection of this topic-specific key accepts as well.
    /// - Throws: `LocalAPNsError`. A private key is refused.
    public func registerKey(
        teamID: String, keyID: String, publicKeyPEM: String, environment: Environment? = nil, topics: Set<String>? = nil,
        relatedKeyID: String? = nil
    ) throws {
        let key = try RegisteredKey(
            teamID: teamID, keyID: keyID, publicKeyPEM: publicKeyPEM, environment: environment, topics: topics,
            relatedKeyID: relatedKeyID)
        core.state.withLockedValue { state in
            state.registry.register(key)
            state.keptRevision += 1
        }
    }

    /// Whether the app of a topic, with a suffix or without, is registered.
    public func knowsApp(ofTopic topic: String) -> Bool {
        core.state.withLockedValue { $0.registry.app(TopicName(topic).bundleID) != nil }
    }

    /// Forgets a key, as when it is revoked.
    public func revokeKey(teamID: String, keyID: String) {
        core.state.withLockedValue { state in
            state.registry.revoke(teamID: teamID, keyID: keyID)
            state.keptRevision += 1
        }
    }

    /// Makes an app known; an app has one team. Connections that pushed before do not see it (Reference/APNs.md#2-3).
    /// Throws `LocalAPNsError` if the bundle or team id is malformed.
    ///
    /// - Parameter broadcasts: the broadcast capability, which an app has to be given. Taking it away destroys all channels
    ///   of the app (Reference/APNs.md#5-1).
    public func registerApp(bundleID: String, teamID: String, broadcasts: Bool = false) throws {
        let bundleID = try RegisteredKey.checkedBundleID(bundleID)
        let teamID = try RegisteredKey.checkedIdentifier(teamID)
        core.state.withLockedValue { state in
            state.keptRevision += 1
            state.registry.register(bundleID: bundleID, teamID: teamID, allowsBroadcasts: broadcasts)
            if !broadcasts { state.channels.deleteAll(bundleID: bundleID) }
        }
    }

    /// Why a device token is dead.
    public typealias DeadTokenReason = APNsEmulation.DeadTokenReason

    /// The device token of an app on a device, 64 hexadecimal digits: the living one if there is one, else a new one. A topic may have several
    /// with different names, as that of Live Activities has.
    public func issueToken(device: String, topic: String, name: String = "") -> String {
        core.state.withLockedValue { state in
            state.keptRevision += 1
            return state.tokens.issue(device: device, topic: topic, name: name, random: &state.random)
        }
    }

    /// Whether this token was ever issued or registered, alive or not.
    public func knowsToken(_ token: String) -> Bool { core.state.withLockedValue { $0.tokens[token.lowercased()] != nil } }

    /// Makes a given token known, for instance one that a device kept from an earlier run. Repeating it changes nothing.
    /// Throws `LocalAPNsError` for a malformed token and for one that another device or topic owns.
    public func registerToken(_ token: String, device: String, topic: String) throws {
        try core.state.withLockedValue { state in
            try state.tokens.register(token, device: device, topic: topic)
            state.keptRevision += 1
        }
    }

    /// Gives the app a new token. The old one is unregistered from now on.
    public func rotateToken(device: String, topic: String, name: String = "") -> String {
        let now = core.clock.now
        return core.state.withLockedValue { state in
            state.keptRevision += 1
            state.tokens.retire(device: device, topic: topic, name: name, at: now)
            return state.tokens.issue(device: device, topic: topic, name: name, random: &state.random)
        }
    }

    /// Declares a token dead since `moment`; later pushes are answered 410 with that moment in milliseconds.
    ///
    /// Apple says so only after a deliberately unpredictable delay, and accepts pushes to the dead token until then: they are
    /// lost. `noticedAfter` is that delay. Returns whether there is such a token; without one nothing happens.
    @discardableResult
    public func invalidate(
        token: String, reason: DeadTokenReason, at moment: Timestamp, noticedAfter delay: Duration = .zero
    ) -> Bool {
        let reportedFrom = delay > .zero ? core.clock.uptime + delay : nil
        return core.state.withLockedValue { state in
            state.keptRevision += 1
            return state.tokens.invalidate(token, reason: reason, at: moment, reportedFrom: reportedFrom)
        }
    }

    /// Brings a device online. What was stored comes first, then pushes as they arrive. A second call takes the place of
    /// the first, whose stream ends. The device goes offline by `disconnect` or when the stream is no longer read.
    public func connect(device: String) -> AsyncStream<DeliveredPush> { core.connect(device: device) }

    /// Takes a device offline and ends its stream.
    public func disconnect(device: String) { core.disconnect(device: device) }

    /// Ends the streams of all devices and observers permanently, before `shutdown`, so that services that forward them can stop.
    public func endStreams() { core.finish() }

    /// How many background pushes an app on this device gets in an hour; more wait, newest only. `nil`: no limit.
    public func setBackgroundBudget(perHour budget: Int?, device: String) {
        core.deliver { state, now in state.store.setBackgroundBudget(budget, device: device, now: now) }
    }

    /// The user opened the app: a background push that waits is delivered now, and a force-quit is forgotten.
    public func appOpened(device: String, bundleID: String) {
        core.deliver { state, now in state.store.appOpened(device: device, bundleID: bundleID, now: now) }
    }

    /// The user force-quit the app: background pushes are dropped until it is opened (Reference/APNs.md#6-4).
    public func appForceQuit(device: String, bundleID: String) {
        core.deliver { state, _ in state.store.appForceQuit(device: device, bundleID: bundleID) }
    }

    /// Creates a channel as the management does, without asking for credentials or capability. Throws `LocalAPNsError` if
    /// the app is not registered or has as many channels as the rules allow.
    public func createChannel(bundleID: String, policy: ChannelPolicy) throws -> String {
        try core.state.withLockedValue { state in
            guard state.registry.app(bundleID) != nil else { throw LocalAPNsError.unknownApp(bundleID) }
            guard state.channels.count(bundleID: bundleID) < state.rules.channelsPerApp else {
                throw LocalAPNsError.tooManyChannels(bundleID)
            }
            state.keptRevision += 1
            return state.channels.create(bundleID: bundleID, policy: policy, random: &state.random)
        }
    }

    /// Deletes a channel; what it stored still goes out (Reference/APNs.md#5-1).
    public func deleteChannel(_ id: String, bundleID: String) {
        core.state.withLockedValue { state in
            guard state.channels.channel(id, bundleID: bundleID) != nil else { return }
            state.channels.delete(id)
            state.keptRevision += 1
        }
    }

    /// The channels of an app, oldest first.
    public func channels(of bundleID: String) -> [String] {
        core.state.withLockedValue { $0.channels.list(bundleID: bundleID) }
    }

    /// A device follows a channel, as a Live Activity does that names it. Throws `LocalAPNsError` for a channel that the app
    /// does not have.
    public func subscribe(device: String, toChannel id: String, bundleID: String) throws {
        let now = core.clock.now
        try core.state.withLockedValue { state in
            guard state.channels.channel(id, bundleID: bundleID) != nil else { throw LocalAPNsError.unknownChannel(id) }
            state.keptRevision += 1
            let instructions = state.channels.subscribe(
                device, to: id, isOnline: state.store.isOnline(device),
                getsStored: state.rules.storedBroadcastReachesNewSubscriber, now: now)
            state.apply(instructions, now: now)
        }
    }

    /// A device follows a channel no longer. Throws `LocalAPNsError` for a channel that the app does not have.
    public func unsubscribe(device: String, fromChannel id: String, bundleID: String) throws {
        try core.state.withLockedValue { state in
            guard state.channels.channel(id, bundleID: bundleID) != nil else { throw LocalAPNsError.unknownChannel(id) }
            state.channels.unsubscribe(device, from: id)
            state.keptRevision += 1
        }
    }

    /// Issues a client certificate with Apple's extensions, signed by the authority of this emulator (Reference/APNs.md#2-4).
    /// Throws `LocalAPNsError`.
    public func issueClientCertificate(_ request: ClientCertificateRequest) throws -> IssuedCertificate {
        let issued = try authority.issueClientCertificate(request, now: core.clock.now)
        if let number = CertificateSerialNumber.canonical(issued.serialNumber) {
            core.state.withLockedValue { _ = $0.issuedCertificates.insert(number) }
        }
        return issued
    }

    /// Whether this emulator issued a client certificate with this serial number since it began.
    public func hasIssued(serialNumber: String) -> Bool {
        guard let number = CertificateSerialNumber.canonical(serialNumber) else { return false }
        return core.state.withLockedValue { $0.issuedCertificates.contains(number) }
    }

    /// Refuses a client certificate in the handshake from now on.
    ///
    /// - Parameter serialNumber: capital or small letters, with or without colons and leading zeros.
    /// - Returns: `false` for a text that is no serial number.
    @discardableResult
    public func revokeCertificate(serialNumber: String) -> Bool {
        guard let number = CertificateSerialNumber.canonical(serialNumber) else { return false }
        core.state.withLockedValue { state in
            if state.revokedCertificates.insert(number).inserted { state.keptRevision += 1 }
        }
        return true
    }

    /// Whether two texts are the same serial number.
    public static func isSameSerialNumber(_ left: String, _ right: String) -> Bool {
        guard let left = CertificateSerialNumber.canonical(left) else { return false }
        return left == CertificateSerialNumber.canonical(right)
    }
}

extension ServiceState {
    /// Whether a client certificate is refused in the handshake.
    func isRevoked(_ serialNumber: String) -> Bool {
        guard let number = CertificateSerialNumber.canonical(serialNumber) else { return true }
        return revokedCertificates.contains(number)
    }
}
