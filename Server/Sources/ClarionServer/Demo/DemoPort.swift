import NIOCore
import NIOPosix
import ServiceErrors

/// Finds the port of the demo's page before anything else starts, because phones and links need to know it.
enum DemoPort {
    /// The port that is tried first when none was asked for.
    static let customary = 8080

    /// The port asked for, else the customary one, else any free one. Throws `ServiceError` if the one asked for is taken.
    static func choose(_ wanted: Int?) async throws -> Int {
        if let wanted {
            guard let port = await free(wanted) else {
                throw ServiceError(.notReady, "port \(wanted) of 127.0.0.1 cannot be used; choose another with --port")
            }
            return port
        }
        if let port = await free(customary) { return port }
        guard let port = await free(0) else { throw ServiceError(.notReady, "no port of 127.0.0.1 is free") }
        return port
    }

    /// The port, if it could be bound a moment ago.
    private static func free(_ port: Int) async -> Int? {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { return nil }
        let bound = channel.localAddress?.port
        try? await channel.close()
        return bound
    }
}
