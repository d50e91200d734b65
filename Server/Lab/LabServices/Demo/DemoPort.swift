import NIOCore
import NIOPosix
import ServiceErrors
import Synchronization

/// Finds the port of the demo's page before anything else starts, because phones and links need to know it.
enum DemoPort {
    /// The port that is tried first when none was asked for.
    static let customary = 8080

    /// Systems give none of these to outgoing connections, so that nobody takes one before the page listens there.
    private static let quiet = 20_000..<32_000

    /// Where the search for any port goes on: two who ask at once must not be given the same one before either listens.
    private static let next = Atomic(Int.random(in: 0..<quiet.count))

    /// The port asked for, else the customary one, else any free one; 0 asks for any. Throws `ServiceError` if the one asked for is taken.
    static func choose(_ wanted: Int?) async throws -> Int {
        if let wanted, wanted != 0 {
            guard let port = await free(wanted) else {
                throw ServiceError(.notReady, "port \(wanted) of 127.0.0.1 cannot be used; choose another with --port")
            }
            return port
        }
        if wanted == nil, let port = await free(customary) { return port }
        for _ in 0..<100 {
            let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
            if let port = await free(quiet.lowerBound + place % quiet.count) { return port }
        }
        throw ServiceError(.notReady, "no port of 127.0.0.1 is free")
    }

    /// The port, if it could be bound a moment ago.
    private static func free(_ port: Int) async -> Int? {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { return nil }
        try? await channel.close()
        return port
    }
}
