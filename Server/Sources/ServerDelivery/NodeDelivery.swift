import APNsDelivery
import APNsHTTP2
import APNsProtocol
import FCMDelivery
import Logging
import NIOCore
import NIOPosix
import PushHub
import RichPushModel
import ServerSettings
import ServiceErrors
import Synchronization
import WebPushDelivery
import WebPushProtocol

/// The ways to APNs and to browsers as the settings and the hubs' own credentials describe them.
package struct NodeDelivery: Sendable {
    /// Absent when no credential is set: then a hub without one of its own keeps its sends until they expire.
    package let client: APNsClient?
    /// Chooses by platform and hub.
    package let transport: HubTransports
    /// The numbers of the node's client and of those of hubs.
    package let clients = APNsClientLedger()
    package let tokens: ProviderTokens
    /// How long a client may wait for answers when it is closed.
    package let closeTime: Duration
    /// The numbers of the connections to FCM; `nil` where there can be none.
    package let fcm: @Sendable () -> APNsClientMetrics?

    /// Makes client and transport. Throws `ServiceError` with a sentence for the operator.
    package init(
        _ settings: Settings, catalog: HubCatalog, clock: any ServiceClock, group: any EventLoopGroup,
        observer: (any APNsClientObserver)?, logger: Logger
    ) throws {
        (tokens, closeTime) = (ProviderTokens(clock: clock), Self.closeTime(settings))
        let maker = APNsClientMaker(
            settings: settings, group: group, observer: observer, ledger: clients, tokens: tokens, logger: logger)
        let environment = settings.apns.environment
        let made = try settings.apns.credential.map { try maker.clients($0, environment) }
        client = made?.pushes
        let topic = settings.apns.credential?.topic ?? ""
        let pushes = APNsPushTransport(
            clients: client.map { [environment: $0] } ?? [:], defaultEnvironment: environment, defaultTopic: topic, logger: logger
        )
        let node = HubTransports.Made(
            transport: pushes, channels: made.map { APNsAppChannels(app: topic, client: $0.pushes, management: $0.channels) }
        ) { await made?.channels?.shutdown(within: $0) }
        let browsers = BrowserTransportMaker(settings: settings, clock: clock, group: group, logger: logger)
        var ways: [Platform: HubTransports.Made] = [.apns: node]
        if let identity = settings.webPush.identity { ways[.browser] = try browsers.transport(identity) }
        // One for all hubs, since several may share the pace of a project of Firebase.
        let messages = try FCMClient(settings.fcm, clock: clock, group: group, logger: logger)
        let android = Self.android(settings, catalog: catalog, client: messages, clock: clock, logger: logger)
        fcm = { messages.metrics }
        if settings.fcm.account != nil { ways[.fcmv1] = android }
        transport = HubTransports(
            catalog: catalog, node: ways, common: [.fcmv1: android], clock: clock, logger: logger, closeTime: closeTime
        ) { credential in
            switch credential {
            case .apns(let credential): try maker.transport(credential)
            case .browser(let credential):
                try browsers.transport(VAPIDIdentity(credential, former: settings.webPush.identity?.keys ?? []))
            case .fcm: throw ServiceError(.internal, "the accounts of Firebase are not for one hub")
            }
        }
        if settings.role.dispatches, let warning = Self.horizonWarning(settings) { logger.warning("\(warning)") }
    }

    /// The node's client of APNs ends after the others. What the dispatcher and both leave of the time for a shutdown is for the database.
    static func closeTime(_ settings: Settings) -> Duration { settings.shutdownDeadline / 20 }

    private static func android(
        _ settings: Settings, catalog: HubCatalog, client: FCMClient, clock: any ServiceClock, logger: Logger
    ) -> HubTransports.Made {
        let transport = FCMTransport(
            credentials: HubFCMAccounts(catalog, node: settings.fcm.account, tokenURL: settings.fcm.hubTokenURL), sender: client,
            endpoint: settings.fcm.endpoint,
            messagesPerMinute: settings.fcm.messagesPerMinute, deadline: settings.pushDeadline, clock: clock, logger: logger)
        return HubTransports.Made(transport: transport) { await client.shutDown(within: $0) }
    }

    /// From this retry horizon on, a push always gets a second try after a 500: the hub draws the least wait out by up to a tenth.
    static let leastRetryHorizon = PushRetryAdvice.afterServerError * 11 / 10

    /// What to log of a retry horizon in which a push may get one try alone.
    static func horizonWarning(_ settings: Settings) -> String? {
        guard settings.hubBounds.retryHorizon < leastRetryHorizon else { return nil }
        return """
            hub-retry-horizon is below \(leastRetryHorizon.components.seconds)s: a push without an expiry may get no second try after \
            500 InternalServerError, because Apple asks for a wait of \(PushRetryAdvice.afterServerError.components.seconds / 60) minutes
            """
    }
}

/// Makes ways to browsers: where to connect to as the settings say, the keys as the caller says.
private struct BrowserTransportMaker {
    let settings: Settings
    let clock: any ServiceClock
    let group: any EventLoopGroup
    let logger: Logger

    func transport(_ identity: VAPIDIdentity) throws(ServiceError) -> HubTransports.Made {
        let client = try WebPushClient(settings.webPush, clock: clock, group: group)
        let transport = WebPushTransport(
            identity: identity, allowing: settings.webPush.rule, sender: client, deadline: settings.pushDeadline, clock: clock,
            logger: logger)
        return HubTransports.Made(transport: transport) { await client.shutDown(within: $0) }
    }
}

/// Makes clients of APNs: host, trust and proxy as the settings say, the credential as the caller says. Their numbers go into one
/// ledger, their tokens come from one place.
package struct APNsClientMaker: Sendable {
    let settings: Settings
    let group: any EventLoopGroup
    let observer: (any APNsClientObserver)?
    let ledger: APNsClientLedger
    let tokens: ProviderTokens
    let logger: Logger

    /// The transport of a hub with a credential of its own.
    func transport(_ credential: HubAPNsCredential) throws -> HubTransports.Made {
        let environment: APNsEnvironment = credential.environment == .sandbox ? .sandbox : .production
        guard environment == .sandbox || settings.apns.mayServeProduction else {
            throw ServiceError(
                .notReady,
                "apns-host is not Apple's and the credential is for production; give the hub one for the sandbox, or set allow-local-apns: true if it is meant"
            )
        }
        let topic: String
        let clients: Clients
        switch credential.identity {
        case .token(let key, let keyID, let teamID):
            topic = credential.topic ?? ""
            clients = try self.clients(.token(tokens(key: key, keyID: keyID, teamID: teamID)), environment)
        case .certificate:
            let certificate = try HubCertificate(credential, at: SystemClock().now)
            topic = certificate.topic
            clients = try self.clients(
                .certificate(chain: certificate.chainPEM, privateKey: certificate.keyPEM), environment)
        }
        let transport = APNsPushTransport(
            clients: [environment: clients.pushes], defaultEnvironment: environment, defaultTopic: topic, logger: logger)
        let number = ledger.open { clients.pushes.metrics }
        let channels = APNsAppChannels(app: topic, client: clients.pushes, management: clients.channels)
        return HubTransports.Made(transport: transport, channels: channels) { limit in
            async let ofChannels: Void? = clients.channels?.shutdown(within: limit)
            await clients.pushes.shutdown(within: limit)
            await ofChannels
            ledger.close(number)
        }
    }

    /// The clients of one credential. Neither connects before it has something to ask.
    package struct Clients: Sendable {
        package var pushes: APNsClient
        /// Absent where the host of the channel management is not known.
        package var channels: APNsChannelClient?
    }

    /// The clients of the node's own credential, open as long as the node.
    package func clients(_ credential: Settings.Credential, _ environment: APNsEnvironment) throws -> Clients {
        let tokens = try tokens(key: credential.key.reveal(), keyID: credential.keyID, teamID: credential.teamID)
        let clients = try clients(.token(tokens), environment)
        _ = ledger.open { clients.pushes.metrics }
        return clients
    }

    private func tokens(key: String, keyID: String, teamID: String) throws -> ProviderTokenCache {
        do throws(ProviderTokenKeyFault) {
            return try tokens.cache(key: key, keyID: keyID, teamID: teamID)
        } catch {
            throw ServiceError(.notReady, "apns-key: \(error)")
        }
    }

    private func clients(_ credential: APNsClientConfiguration.Credential, _ environment: APNsEnvironment) throws -> Clients {
        do {
            let place = settings.apns.place(for: environment)
            var configuration = APNsClientConfiguration(
                environment: environment, credential: credential, endpoint: place.endpoint, management: place.management,
                transport: .tls(try place.trust()), proxy: place.proxy, strictness: .appleHeaders)
            configuration.timing.pushDeadline = settings.pushDeadline
            let pushes = try APNsClient(configuration: configuration, eventLoopGroup: group, logger: logger, observer: observer)
            guard place.managesChannels else { return Clients(pushes: pushes, channels: nil) }
            let channels = try APNsChannelClient(configuration: configuration, eventLoopGroup: group, logger: logger)
            return Clients(pushes: pushes, channels: channels)
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

/// The numbers of every client of APNs that the node has, its own and those of hubs with a credential of their own, as one. What
/// closed clients have counted stays, so that totals never fall.
package final class APNsClientLedger: Sendable {
    /// The numbers of all clients together.
    package struct Numbers: Sendable {
        /// How many are open.
        package var clients: Int
        package var sum: APNsClientMetrics
    }

    private struct State {
        var open: [Int: @Sendable () -> APNsClientMetrics] = [:]
        var opened = 0
        var closed = APNsClientMetrics()
    }

    private let state = Mutex(State())

    /// A client was made. Returns the number that `close` takes.
    func open(_ metrics: @escaping @Sendable () -> APNsClientMetrics) -> Int {
        state.withLock { state in
            state.opened += 1
            state.open[state.opened] = metrics
            return state.opened
        }
    }

    /// The client was closed; its last numbers are read once more.
    func close(_ client: Int) {
        state.withLock { state in
            guard let metrics = state.open.removeValue(forKey: client) else { return }
            state.closed = state.closed.adding(metrics().history)
        }
    }

    /// `nil` while there never was a client.
    package var numbers: Numbers? {
        state.withLock { state in
            guard state.opened > 0 else { return nil }
            return Numbers(clients: state.open.count, sum: state.open.values.reduce(state.closed) { $0.adding($1()) })
        }
    }
}
