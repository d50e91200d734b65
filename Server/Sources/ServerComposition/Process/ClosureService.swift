import ServiceLifecycle

/// A part of the node that runs until it is told to stop.
package struct ClosureService: Service {
    private let body: @Sendable () async throws -> Void
    private let onShutdown: @Sendable () -> Void

    /// `onShutdown` is called once when graceful shutdown begins; the body has to end soon after that.
    package init(onShutdown: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () async throws -> Void) {
        self.body = body
        self.onShutdown = onShutdown
    }

    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await body()
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}
