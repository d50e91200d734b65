import HTTPService
import Logging
import Metrics
import PostgresDatabase
import PushHub
import RichPushModel
import SQLStorage
import ServerSettings
import ServiceErrors
import Synchronization

/// What a node does because there may be others: it says that it is there, keeps to the clock of the database, and calls and hears
/// the others. All of it goes through the database.
package struct NodeMembership: Sendable {
    /// How often a node says that it is there.
    static let heartbeat: Duration = .seconds(5)
    /// A node that was not seen for so long is gone.
    package static let absence: Duration = .seconds(20)
    /// How long one that is gone is shown.
    private static let memory: Duration = .seconds(3600)
    /// From this difference on the log warns of the machine's clock.
    private static let notableDifference: Duration = .seconds(2)
    /// Calls are not more frequent than this.
    private static let callPause: Duration = .milliseconds(20)
    /// After a call there is another look so much later.
    private static let secondLook: Duration = .milliseconds(100)

    let store: SQLNodeStore
    let fence: SchemaFence
    /// Whether the schema is to become one that this program does not understand.
    let standing = SchemaCompatibility()
    let clock: NodeClock
    let identity: NodeIdentity
    let role: NodeRole
    let database: Settings.Database
    let signal: DispatchSignal
    let metrics: any MetricsFactory
    let logger: Logger

    /// Runs until the task is cancelled.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { await beat() }
            group.addTask { await call() }
            if role.dispatches { group.addTask { await hear() } }
        }
    }

    /// Announces the node before it does anything, then checks whether the schema still admits it. Waits for a database that is
    /// unreachable for a moment. Throws `not-ready`, or `storage-unavailable` if it stays unreachable, with a sentence for the operator.
    package func enter() async throws {
        let isOutdated = try await StartupTimeout(clock: clock, place: "at \(database.url)")() {
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

    /// The message for the operator when the schema has become too new for a node.
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

    /// Removes this node from the members; the others would notice by themselves a little later.
    package func leave() async { try? await store.leave(identity.name) }

    private func beat() async {
        let startedAt = clock.now
        var isReported = false
        var senders = SendersWatch(absence: Self.absence)
        while !Task.isCancelled {
            do {
                try await clock.measure { try await store.time() }
                logClockDifference(&isReported)
                try await announce(startedAt: startedAt)
                if !standing.isOutdated, try await isOutdated() {
                    logger.error(
                        "A newer version has taken over the database; this node takes no more work, ends what it has begun and stops"
                    )
                    standing.end()
                }
                let present = try await store.members(seenSince: clock.now - Self.absence)
                Self.count(present, in: metrics)
                if let change = senders.saw(present, at: clock.now) { log(change) }
                try await store.sweep(seenBefore: clock.now - Self.memory)
            } catch is CancellationError { return } catch {
                logger.debug("This node could not be announced to the others", metadata: ["error_type": "\(type(of: error))"])
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

    private func log(_ change: SendersWatch.Change) {
        switch change {
        case .gone:
            logger.warning(
                "No node that sends is running: what is accepted is kept and waits. Start one with the role worker or all")
        case .back: logger.notice("A node that sends is running again")
        }
    }

    private func logClockDifference(_ isReported: inout Bool) {
        let ahead = clock.ahead
        let isNotable = ahead > Self.notableDifference || ahead < .zero - Self.notableDifference
        defer { isReported = isNotable }
        guard isNotable, !isReported else { return }
        logger.warning(
            "The clock of this machine and that of the database differ; the database's counts",
            metadata: ["delay_ms": "\(ahead.wholeMilliseconds)"])
    }

    /// Notifies the others of work that this node accepted. What is accepted during a call needs one more.
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

/// Notices when no sending node is present: accepted sends then wait, and nothing else would show why.
struct SendersWatch {
    /// A change that is logged.
    enum Change: Hashable {
        /// No node sends.
        case gone
        /// A node sends again.
        case back
    }

    /// Nodes are started and replaced one after the other; that is not reported.
    private let absence: Duration
    /// Since when no node sends; `nil` while one does.
    private var since: Timestamp?
    private var isReported = false

    /// - Parameter absence: how long no node has to send before that is reported.
    init(absence: Duration) { self.absence = absence }

    /// Takes the nodes that are present at a moment, and returns what changed.
    mutating func saw(_ present: [NodeMember], at moment: Timestamp) -> Change? {
        // A role that this version does not know is one of a newer version, which may send.
        let isSending = present.contains { NodeRole(rawValue: $0.role)?.dispatches ?? true }
        if isSending {
            defer { (since, isReported) = (nil, false) }
            return isReported ? .back : nil
        }
        let began = since ?? moment
        since = began
        guard !isReported, moment - began >= absence else { return nil }
        isReported = true
        return .gone
    }
}

/// Whether a node may go on with the schema of its database. Once it may not, that is final.
final class SchemaCompatibility: Sendable {
    private let outdated = Mutex(false)
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    var isOutdated: Bool { outdated.withLock { $0 } }

    /// It may not go on.
    func end() {
        outdated.withLock { $0 = true }
        continuation.finish()
    }

    /// Returns when it may not go on, or the task is cancelled. For one caller.
    func awaitEnd() async { for await _ in stream {} }
}

/// Retries a step of a start while a shared database is unreachable: it may be starting, or failing over. Wrong settings and refusals
/// fail at once.
struct StartupTimeout {
    /// How long one step of a start is tried.
    static let total: Duration = .seconds(20)
    private static let firstPause: Duration = .milliseconds(250)
    private static let longestPause: Duration = .seconds(2)

    let clock: any ServiceClock
    /// How messages name the database.
    let place: String

    /// Runs one step of a start, which may run again. Throws a sentence for the operator when the database stays unreachable.
    func callAsFunction<Value>(_ step: () async throws -> Value) async throws -> Value {
        let end = clock.uptime + Self.total
        var pause = Self.firstPause
        while true {
            do { return try await step() } catch {
                guard let reason = Self.passingReason(error) else { throw error }
                guard clock.uptime < end else { throw failure(reason) }
            }
            // Half of it by chance, so that nodes that were started together do not come back together.
            try await clock.sleep(for: pause / 2 + pause * Double.random(in: 0...0.5))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// The reason of an error that may not occur the next time.
    private static func passingReason(_ error: any Error) -> String? {
        switch error {
        case SQLFault.unavailable(let reason): reason
        case SQLFault.outcomeUnknown: "it broke while writing"
        case let error as ServiceError where [.storageUnavailable, .outcomeUnknown].contains(error.code):
            error.detail ?? error.code.rawValue
        default: nil
        }
    }

    private func failure(_ reason: String) -> ServiceError {
        let seconds = Self.total.components.seconds
        return ServiceError(
            .storageUnavailable, "the database \(place) could not be used for \(seconds) seconds at the start: \(reason)")
    }
}
