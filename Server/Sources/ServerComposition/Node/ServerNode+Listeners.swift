import HTTPService
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServerSettings
import ServiceErrors
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ServerNode {
    /// Every listener that the settings ask for, with one router and one count of connections.
    func listeners(onListening: @escaping @Sendable (Int) async -> Void) -> [any Service] {
        let responder = router().buildResponder()
        let allowance = ConnectionAllowance(
            limit: FileDescriptors.connectionLimit(settings.listening.connectionLimit, logger: logger), clock: options.clock,
            logger: logger)
        let address = settings.listening.address
        let observer = options.onListening
        var listeners = [
            listener(responder, .guarded(allowance: allowance), address, "listen-port") { port in
                await onListening(port)
                await observer(.plain, port)
            }
        ]
        if let tls = settings.listening.tls, let frontDoor {
            listeners.append(
                listener(responder, .guardedTLS(frontDoor.identity, allowance: allowance), tls.address, "tls-listen-port") {
                    await observer(.tls, $0)
                })
            listeners.append(ClosureService { await cancelWhenGracefulShutdown { await frontDoor.run() } })
        }
        if let port = settings.listening.priorKnowledgePort {
            let address = Settings.Address(host: address.host, port: port)
            listeners.append(
                listener(responder, .guardedHTTP2(allowance: allowance), address, "prior-knowledge-port") {
                    await observer(.priorKnowledge, $0)
                })
        }
        return listeners
    }

    private func listener(
        _ responder: ServiceResponder, _ server: HTTPServerBuilder, _ address: Settings.Address, _ setting: String,
        onListening: @escaping @Sendable (Int) async -> Void
    ) -> any Service {
        let application = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil,
                backlog: ListenBacklog.length(settings.listening.backlog)),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(group), logger: logger)
        return ClosureService {
            try await ListenerFault.explained(address, setting: setting) { try await application.run() }
        }
    }

    /// Reads the certificate of the HTTPS interface again.
    public func reloadCertificate() { frontDoor?.reload() }

    /// What clients of the HTTPS interface have to trust, when its certificate is of the node's own development authority.
    public var developmentAuthorityPath: String? { frontDoor?.authorityPath }
}

/// How many connections a listening socket holds that the server has not accepted yet.
enum ListenBacklog {
    /// The most that is taken without a setting.
    static let most = 4_096

    /// The length for what the settings say; without a setting what the system allows.
    static func length(_ wanted: Int?, system: Int? = system()) -> Int { wanted ?? min(most, max(128, system ?? most)) }

    /// What Linux allows (`net.core.somaxconn`); `nil` elsewhere, where the system cuts a longer backlog by itself.
    static func system() -> Int? {
        FileManager.default.contents(atPath: "/proc/sys/net/core/somaxconn")
            .flatMap { Int(String(decoding: $0.filter { $0 > 0x20 }, as: UTF8.self)) }
    }
}
