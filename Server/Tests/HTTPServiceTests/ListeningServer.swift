import Hummingbird
import HummingbirdCore
import Logging
import Testing

@testable import HTTPService

/// A server with routes of the test on a port of this machine.
enum ListeningServer {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Connections that a server takes at the same time.
    static func allowance(_ limit: Int = 100) -> ConnectionAllowance {
        ConnectionAllowance(limit: limit, clock: .system, logger: quiet)
    }

    /// Listens until the body returns, which gets the port.
    static func use(
        _ router: ServiceRouter, _ server: HTTPServerBuilder, _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router, server: server,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.runService(gracefulShutdownSignals: []) }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            try await body(port)
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
    }
}
