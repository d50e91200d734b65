import APNsDelivery
import APNsHTTP2
import APNsProtocol
import Logging
import NIOCore
import PushHub
import RichPushModel
import ServerSettings

/// The way to APNs as the settings and the hubs' own credentials describe it.
package struct NodeDelivery: Sendable {
    /// Absent when no credential is set: then a hub without one of its own keeps what it is told to send until its time is up.
    package let client: APNsClient?
    /// Chooses by hub.
    package let transport: HubTransports
    /// The numbers of the node's client and of those of hubs.
    package let clients = APNsClientLedger()
    package let tokens: ProviderTokens

    /// Makes client and transport. Throws `ServiceError` with a sentence for the operator.
    package init(
        _ settings: Settings, catalog: HubCatalog, clock: any ServiceClock, group: any EventLoopGroup,
        observer: (any APNsClientObserver)?, logger: Logger
    ) throws {
        tokens = ProviderTokens(clock: clock)
        let maker = APNsClientMaker(
            settings: settings, group: group, observer: observer, ledger: clients, tokens: tokens, logger: logger)
        let node: any PushTransport
        if let credential = settings.apns.credential {
            let environment = settings.apns.environment
            let client = try maker.client(credential, environment)
            self.client = client
            node = APNsPushTransport(
                clients: [environment: client], defaultEnvironment: environment, defaultTopic: credential.topic, logger: logger)
        } else {
            client = nil
            node = APNsPushTransport(
                clients: [:], defaultEnvironment: settings.apns.environment, defaultTopic: "", logger: logger)
        }
        transport = HubTransports(catalog: catalog, node: node, clock: clock, logger: logger) { credential in
            try maker.transport(credential)
        }
    }
}
