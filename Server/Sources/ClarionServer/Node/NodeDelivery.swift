import APNsDelivery
import APNsHTTP2
import APNsProtocol
import Logging
import NIOCore
import PushHub
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The way to APNs as the settings describe it.
struct NodeDelivery: Sendable {
    /// Absent when no credential is set: then the node keeps what it is told to send until its time is up.
    let client: APNsClient?
    let transport: any PushTransport

    /// Makes client and transport. Throws `ServiceError` with a sentence for the operator.
    init(
        _ settings: Settings, clock: any ServiceClock, group: any EventLoopGroup, observer: (any APNsClientObserver)?,
        logger: Logger
    ) throws {
        guard let credential = settings.apns.credential else {
            client = nil
            transport = APNsPushTransport(
                clients: [:], defaultEnvironment: settings.apns.environment, defaultTopic: "", logger: logger)
            return
        }
        let environment = settings.apns.environment
        let client = try Self.client(settings, credential, clock: clock, group: group, observer: observer, logger: logger)
        self.client = client
        transport = APNsPushTransport(
            clients: [environment: client], defaultEnvironment: environment, defaultTopic: credential.topic, logger: logger)
    }

    private static func client(
        _ settings: Settings, _ credential: Settings.Credential, clock: any ServiceClock, group: any EventLoopGroup,
        observer: (any APNsClientObserver)?, logger: Logger
    ) throws -> APNsClient {
        do {
            let key = try ProviderTokenKey(pem: credential.key.reveal(), keyID: credential.keyID, teamID: credential.teamID)
            var configuration = APNsClientConfiguration(
                environment: settings.apns.environment, credential: .token(ProviderTokenCache(key: key, clock: clock)),
                endpoint: settings.apns.host.map { APNsClientConfiguration.Endpoint(host: $0, port: settings.apns.port) },
                transport: .tls(try trust(settings.apns)), proxy: settings.apns.proxy)
            configuration.timing.pushDeadline = settings.pushDeadline
            return try APNsClient(configuration: configuration, eventLoopGroup: group, logger: logger, observer: observer)
        } catch let fault as ProviderTokenKeyFault {
            throw ServiceError(.notReady, "apns-key: \(fault)")
        } catch let fault as APNsConfigurationFault {
            throw ServiceError(.notReady, "the APNs client cannot be made: \(fault)")
        }
    }

    private static func trust(_ apns: Settings.APNs) throws -> APNsClientConfiguration.Trust {
        guard let path = apns.trustRootsPath else { return .system }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ServiceError(.notReady, "apns-trust-roots-path: \(path) cannot be read")
        }
        return .additional(pem: pem)
    }
}
