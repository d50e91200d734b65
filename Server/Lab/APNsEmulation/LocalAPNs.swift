import APNsProtocol
import LocalCertificates
import Logging
import NIOCore
import RichPushModel

/// A strict APNs on this machine: provider API over TLS and HTTP/2 on one side, devices that connect on the other.
///
/// It judges requests as Apple does (Reference/APNs.md#7-2), stores and forwards as Apple does (Reference/APNs.md#7-3), and can
/// be told to fail. It shares no code with any client but the vocabulary, so that a mistake cannot hide on both sides.
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
    /// The provider's door, and that of the channel management if there is one.
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
        let doors: [(APNsService, Int?)] = [
            (.provider, configuration.port), (.channelManagement, configuration.managementPort),
        ]
        listeners = doors.compactMap { service, port in
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

    /// Tells the clients with GOAWAY, closes every connection and ends the streams of the devices. It may not be started again.
    public func shutdown() async {
        for listener in listeners { await listener.shutdown() }
        core.finish()
    }
}
