import HTTPService
import Logging
import Metrics
import PostgresDatabase
import PushHub
import RichPushModel
import SQLStorage
import ServerSettings
import ServiceErrors

/// What a node does because there may be others: it says that it is there, keeps to the clock of the database, and calls and hears
/// the others. All of it goes through the database.
package struct NodeMembership: Sendable {
    /// How often a node says that it is there.
    static let heartbeat: Duration = .seconds(5)
    /// A node that was not seen for so long is gone.
    package static let absence: Duration = .seconds(20)
    /// How long one that is gone is shown.
    private static let memory: Duration = .seconds(3600)
    /// From this difference on the operator is told of a machine's clock.
    private static let notableDifference: Duration = .seconds(2)
    /// Calls are not more frequent than this.
    private static let callPause: Duration = .milliseconds(20)
    /// After a call there is another look so much later.
    private static let secondLook: Duration = .milliseconds(100)

    let store: SQLNodeStore
    let fence: SchemaFence
    /// Whether the schema is to become one that this program does not understand.
    let standing = SchemaStanding()
    let clock: NodeClock
    let identity: NodeIdentity
    let role: NodeRole
    let database: Settings.Database
    let signal: DispatchSignal
    let metrics: any MetricsFactory
    let logger: Logger

    /// Works until the task is cancelled, then takes its leave.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { await beat() }
            group.addTask { await call() }
            if role.dispatches { group.addTask { await hear() } }
        }
    }

    /// Says that the node is there, before it does anything, and looks after that whether it may be. A database that is away for a moment
    /// is waited for. Throws `not-ready`, or `storage-unavailable` when it stays away, with a sentence for the operator.
    package func enter() async throws {
        let isOutdated = try await StartPatience(clock: clock, place: "at \(database.url)")() {
            try await announce(startedAt: clock.now)
            return try await self.isOutdated()
        }
        guard isOutdated else { return }
        await leave()
        throw refusal
    }

    /// Returns when the node has to end because the database has become too new for it, or the task is cancelled.
    package func awaitEnd() async { await standing.awaitEnd() }

    /// Throws when that was why the node ended.
    package func checkUpToDate() throws { if standing.isOutdated { throw refusal } }

    /// What an operator is told when the database has become too new for a node.
    private var refusal: ServiceError {
        ServiceError(
            .notReady,
            """
            a newer version of clarion has taken over the database at \(database.url), with a schema that this version does not \
            understand; run the newer version
            """)
    }

    private func isOutdated() async throws -> Bool { try await fence.oldest() > SchemaMigrator().known }

    private func announce(startedAt: Timestamp) async throws {
        try await store.announce(
            NodeMember(
                id: identity.name, role: role.rawValue, version: ClarionVersion.current, schemaStep: SchemaMigrator().known,
                startedAt: startedAt, seenAt: clock.now))
    }

    /// Takes leave of the others; they would notice by themselves a little later.
    package func leave() async { try? await store.leave(identity.name) }

    private func beat() async {
        let startedAt = clock.now
        var told = false
        var senders = SendersWatch(patience: Self.absence)
        while !Task.isCancelled {
            do {
                try await clock.measure { try await store.time() }
                tellDifference(&told)
                try await announce(startedAt: startedAt)
                if !standing.isOutdated, try await isOutdated() {
                    logger.error(
                        "A newer version has taken over the database; this node takes no more work, ends what it has begun and stops"
                    )
                    standing.end()
                }
                let present = try await store.members(seenSince: clock.now - Self.absence)
                Self.count(present, in: metrics)
                if let news = senders.saw(present, at: clock.now) { tell(news) }
                try await store.sweep(seenBefore: clock.now - Self.memory)
            } catch is CancellationError { return } catch {
                logger.debug("The other nodes cannot be told of this one", metadata: ["error_type": "\(type(of: error))"])
            }
            do { try await clock.sleep(for: Self.heartbeat) } catch { return }
        }
    }

    /// Counts the nodes that share the database, this one among them, by their role.
    static func count(_ present: [NodeMember], in factory: any MetricsFactory) {
        for role in NodeRole.allCases {
            let labels = [(MetricLabel.role.rawValue, role.rawValue)]
            Gauge(label: MetricName.nodes.rawValue, dimensions: labels, factory: factory)
                .record(Double(present.count { $0.role == role.rawValue }))
        }
    }

    private func tell(_ news: SendersWatch.News) {
        switch news {
        case .gone:
            logger.warning(
                "No node that sends is running: what is accepted is kept and waits. Start one with the role worker or all")
        case .back: logger.notice("A node that sends is running again")
        }
    }

    private func tellDifference(_ told: inout Bool) {
        let ahead = clock.ahead
        let isNotable = ahead > Self.notableDifference || ahead < .zero - Self.notableDifference
        defer { told = isNotable }
        guard isNotable, !told else { return }
        logger.warning(
            "The clock of this machine and that of the database differ; the database's counts",
            metadata: ["delay_ms": "\(ahead.wholeMilliseconds)"])
    }

    /// Tells the others of work that this node accepted. What is accepted while a call is under way needs one more.
    private func call() async {
        for await _ in signal.announcements {
            do { try await store.call() } catch is CancellationError { return } catch {
                logger.debug("Other nodes could not be called", metadata: ["error_type": "\(type(of: error))"])
            }
            do { try await clock.sleep(for: Self.callPause) } catch { return }
        }
    }

    private func hear() async {
        // Behind a pooler what one transaction listens to the next one's connection does not hear. The look twice a second remains.
        guard database.pooler == .session else { return }
        guard let listener = try? PostgresListener(database.url, channel: SQLNodeStore.channel, logger: logger) else { return }
        for await _ in listener.calls {
            signal.wake()
            // Two nodes take the shared clock differently by some milliseconds: what is due for one may not be yet for the other.
            do { try await clock.sleep(for: Self.secondLook) } catch { break }
            signal.wake()
        }
        listener.close()
    }
}
