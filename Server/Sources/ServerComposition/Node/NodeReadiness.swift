import Logging
import PushHub
import RichPushModel
import ServerObservability
import ServerStorage
import ServiceErrors

/// What `/readyz` asks: whether the database and the contents can be read and take a write now.
///
/// Each look goes on once at a time and counts for seconds, so that callers cost nothing however many they are. What is found enters
/// the log when it changes.
struct NodeReadiness: Sendable {
    let checks: [ReadinessCheck]

    init(_ storage: NodeStorage, clock: any ServiceClock, logger: Logger) {
        let database = SharedLook(clock: clock, isDoubted: { storage.database.lastWriteFault != nil }) {
            try await storage.check()
        }
        // A look at contents writes a file or asks a bucket.
        let contents = SharedLook(goodFor: .seconds(5), clock: clock) { try await storage.contents.check() }
        checks = [
            Self.check("storage", database, TroubleLog("The database does not do its work", logger: logger)),
            Self.check("content-store", contents, TroubleLog("The content store does not do its work", logger: logger)),
        ]
    }

    /// Looks once before the start. A node that is not ready starts nevertheless: it serves what is read, and goes on when all is well
    /// again. A bucket was asked before, when the contents were prepared.
    func lookAtStart(_ storage: NodeStorage) async {
        for check in storage.contents.isShared ? Array(checks.prefix(1)) : checks { try? await check.check() }
    }

    private static func check(_ name: String, _ look: SharedLook, _ trouble: TroubleLog) -> ReadinessCheck {
        ReadinessCheck(name: name) {
            do {
                try await look()
                trouble.succeeded()
            } catch {
                if !(error is CancellationError) { trouble.failed(error) }
                throw error
            }
        }
    }
}
