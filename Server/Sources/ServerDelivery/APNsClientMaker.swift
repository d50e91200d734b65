import APNsDelivery
import APNsHTTP2
import APNsProtocol
import Logging
import NIOCore
import NIOPosix
import PushHub
import RichPushModel
import ServerSettings
import ServiceErrors

/// Makes clients of APNs: host, trust and proxy as the settings say, the credential as the caller says. Their numbers go into one
/// ledger, their tokens come from one place.
package struct APNsClientMaker: Sendable {
    let settings: Settings
    let group: any EventLoopGroup
    let observer: (any APNsClientObserver)?
    let ledger: APNsClientLedger
    let tokens: ProviderTokens
    let logger: Logger

    /// The way out for a hub with a credential of its own.
    func transport(_ credential: HubAPNsCredential) throws -> HubTransports.Made {
        let environment: APNsEnvironment = credential.environment == .sandbox ? .sandbox : .production
        guard environment == .sandbox || settings.apns.mayServeProduction else {
            throw ServiceError(
                .notReady,
                "apns-host is not Apple's and the credential is for production; give the hub one for the sandbox, or set allow-local-apns: true if it is meant"
            )
        }
        let topic: String
        let client: APNsClient
        switch credential.identity {
        case .token(let key, let keyID, let teamID):
            topic = credential.topic ?? ""
            client = try self.client(.token(tokens(key: key, keyID: keyID, teamID: teamID)), environment)
        case .certificate:
            let certificate = try HubCertificate(credential, at: SystemClock().now)
            topic = certificate.topic
            client = try self.client(.certificate(chain: certificate.chainPEM, privateKey: certificate.keyPEM), environment)
        }
        let transport = APNsPushTransport(
            clients: [environment: client], defaultEnvironment: environment, defaultTopic: topic, logger: logger)
        let number = ledger.open { client.metrics }
        return HubTransports.Made(transport: transport) {
            await client.shutdown()
            ledger.close(number)
        }
    }

    /// The client of the node's own credential, open as long as the node.
    package func client(_ credential: Settings.Credential, _ environment: APNsEnvironment) throws -> APNsClient {
        let tokens = try tokens(key: credential.key.reveal(), keyID: credential.keyID, teamID: credential.teamID)
        let client = try client(.token(tokens), environment)
        _ = ledger.open { client.metrics }
        return client
    }

    private func tokens(key: String, keyID: String, teamID: String) throws -> ProviderTokenCache {
        do throws(ProviderTokenKeyFault) {
            return try tokens.cache(key: key, keyID: keyID, teamID: teamID)
        } catch {
            throw ServiceError(.notReady, "apns-key: \(error)")
        }
    }

    private func client(_ credential: APNsClientConfiguration.Credential, _ environment: APNsEnvironment) throws -> APNsClient {
        do {
            let place = settings.apns.place(for: environment)
            var configuration = APNsClientConfiguration(
                environment: environment, credential: credential, endpoint: place.endpoint,
                transport: .tls(try place.trust()), proxy: settings.apns.proxy, strictness: .appleHeaders)
            configuration.timing.pushDeadline = settings.pushDeadline
            return try APNsClient(configuration: configuration, eventLoopGroup: group, logger: logger, observer: observer)
        } catch let fault as APNsConfigurationFault {
            throw ServiceError(.notReady, "the APNs client cannot be made: \(fault)")
        }
    }
}

extension APNsClientMaker {
    /// A maker for one command, which shares no numbers and no tokens with a node.
    package init(forCommand settings: Settings, logger: Logger) {
        self.init(
            settings: settings, group: .singletonMultiThreadedEventLoopGroup, observer: nil, ledger: APNsClientLedger(),
            tokens: ProviderTokens(clock: SystemClock()), logger: logger)
    }
}
