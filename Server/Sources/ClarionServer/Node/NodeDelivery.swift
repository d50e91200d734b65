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
    /// Absent with the client.
    let tokens: ProviderTokenCache?

    /// Makes client and transport. Throws `ServiceError` with a sentence for the operator.
    init(
        _ settings: Settings, clock: any ServiceClock, group: any EventLoopGroup, observer: (any APNsClientObserver)?,
        logger: Logger
    ) throws {
        guard let credential = settings.apns.credential else {
            client = nil
            tokens = nil
            transport = APNsPushTransport(
                clients: [:], defaultEnvironment: settings.apns.environment, defaultTopic: "", logger: logger)
            return
        }
        let environment = settings.apns.environment
        let tokens = try Self.tokens(credential, clock: clock)
        let client = try Self.client(settings, tokens, group: group, observer: observer, logger: logger)
        self.client = client
        self.tokens = tokens
        transport = APNsPushTransport(
            clients: [environment: client], defaultEnvironment: environment, defaultTopic: credential.topic, logger: logger)
    }

    private static func tokens(_ credential: Settings.Credential, clock: any ServiceClock) throws -> ProviderTokenCache {
        do throws(ProviderTokenKeyFault) {
            let key = try ProviderTokenKey(pem: credential.key.reveal(), keyID: credential.keyID, teamID: credential.teamID)
            return ProviderTokenCache(key: key, clock: clock)
        } catch {
            throw ServiceError(.notReady, "apns-key: \(error)")
        }
    }

    private static func client(
        _ settings: Settings, _ tokens: ProviderTokenCache, group: any EventLoopGroup,
        observer: (any APNsClientObserver)?, logger: Logger
    ) throws -> APNsClient {
        do {
            var configuration = APNsClientConfiguration(
                environment: settings.apns.environment, credential: .token(tokens),
                endpoint: settings.apns.host.map { APNsClientConfiguration.Endpoint(host: $0, port: settings.apns.port) },
                transport: .tls(try trust(settings.apns)), proxy: settings.apns.proxy)
            configuration.timing.pushDeadline = settings.pushDeadline
            return try APNsClient(configuration: configuration, eventLoopGroup: group, logger: logger, observer: observer)
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
