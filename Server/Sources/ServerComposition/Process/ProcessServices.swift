import Logging
import ServiceErrors
import ServiceLifecycle
import UnixSignals

/// Runs services until the process is told to stop by SIGTERM or SIGINT, or one of them ends.
package enum ProcessServices {
    /// The services stop in the reverse of their order. After `deadline` what still runs is cancelled.
    package static func run(_ services: [any Service], deadline: Duration, logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = deadline + .seconds(2)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            throw ServiceError(
                .notReady,
                "not everything came to its end in the time for it; what was under way is repeated by whoever takes it up")
        }
    }
}
