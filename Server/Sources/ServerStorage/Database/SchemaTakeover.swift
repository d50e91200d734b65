import RichPushModel
import SQLStorage
import ServiceErrors

/// Brings a database that nodes share to the schema of this program without doing harm to nodes of an older version: steps that
/// they can live with run beside them; before others they are told to stop, and have to be gone.
struct SchemaTakeover: Sendable {
    /// How long nodes of an older version may take: they look every five seconds, and end what they have begun.
    static let patience: Duration = .seconds(60)
    private static let look: Duration = .milliseconds(500)

    let database: any SQLDatabase
    let clock: any ServiceClock
    var migrator = SchemaMigrator()

    /// Runs the steps that are missing; returns their numbers. Throws `SQLFault`, and `ServiceError` with a sentence for the operator when
    /// older nodes stay.
    @discardableResult
    func run() async throws -> [Int] {
        if let step = try await migrator.fence(of: database) {
            let fence = SchemaFence(database)
            try await fence.raise(to: step)
            try await awaitEnd(below: step, fence)
        }
        return try await migrator.migrate(database, at: clock.now)
    }

    private func awaitEnd(below step: Int, _ fence: SchemaFence) async throws {
        let end = clock.uptime + Self.patience
        while true {
            // By the clock of the database, which is the one that all nodes share.
            let now = try await SQLNodeStore(database).time()
            let left = try await fence.nodes(below: step, seenSince: now - NodeMembership.absence)
            guard !left.isEmpty else { return }
            guard clock.uptime < end else { throw Self.refusal(left, step) }
            try await clock.sleep(for: Self.look)
        }
    }

    private static func refusal(_ nodes: [NodeMember], _ step: Int) -> ServiceError {
        let names = nodes.map { "\($0.id) (version \($0.version))" }.joined(separator: ", ")
        return ServiceError(
            .notReady,
            """
            nodes of an older version still serve the database: \(names). Schema \(step) is not for them; they were told to stop and \
            have not. Stop them and start this one again
            """)
    }
}
