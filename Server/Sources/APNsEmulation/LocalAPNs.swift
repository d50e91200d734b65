import APNsProtocol
import Logging
import NIOCore
import RichPushModel

/// A strict APNs on this machine: provider API over TLS and HTTP/2 on one side, devices that connect on the other.
///
/// It judges requests as Apple does (APNs reference 7.2), stores and forwards as Apple does (7.3), and can be told to fail.
/// It shares no code with any client but the vocabulary, so that a mistake cannot hide on both sides.
public final class LocalAPNs: Sendable {
    /// Sandbox or production.
    public typealias Environment = APNsEnvironment

    /// Where it listens.
    public struct Address: Sendable, Hashable {
        public var host: String
        public var port: Int
    }

    let core: EmulatorCore
    let listener: Listener
    private let authority: LocalCertificateAuthority

    /// Creates an emulator; nothing listens before `start`. Throws `LocalAPNsError`, or the error of the certificate
    /// library if no authority could be made.
    public init(
        configuration: LocalAPNsConfiguration, clock: any ServiceClock, group: any EventLoopGroup, logger: Logger
    ) throws {
        authority = try configuration.authority ?? .create(now: clock.now)
        core = EmulatorCore(configuration: configuration, clock: clock)
        listener = Listener(configuration: configuration, authority: authority, core: core, group: group, logger: logger)
    }

    /// The certificate that a client has to trust, in PEM.
    public var certificateAuthorityPEM: String { authority.certificatePEM }

    /// Listens. Refuses an address that other machines reach, unless the configuration allows it. Throws `LocalAPNsError`.
    @discardableResult
    public func start() async throws -> Address { try await listener.start() }

    /// Tells the clients with GOAWAY, closes every connection and ends the streams of the devices. It may not be started again.
    public func shutdown() async {
        await listener.shutdown()
        core.finish()
    }
}
