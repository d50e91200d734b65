import AuditTrail
import Logging
import PushHub
import RichPushModel
import ServiceErrors

/// Keeps the audit in order: gives committed entries their places in the chain each second, signs the head each hour,
/// and prunes what is older than the retention. Several nodes may do it at a time.
public struct AuditKeeper: Sendable {
    /// How often entries are sealed: so long an entry can be changed without a trace.
    public static let interval: Duration = .seconds(1)
    /// How often the head is signed.
    public static let checkpointInterval: Duration = .seconds(3600)
    /// How many entries one transaction seals or removes.
    static let batch = 500

    private let store: any AuditStore
    private let key: AuditSigningKey
    private let retention: Duration
    private let clock: any ServiceClock
    private let logger: Logger
    private let troubles: TroubleLog

    /// Creates a keeper. `retention` is how long an entry stays at least.
    public init(store: any AuditStore, key: AuditSigningKey, retention: Duration, clock: any ServiceClock, logger: Logger) {
        self.store = store
        self.key = key
        self.retention = retention
        self.clock = clock
        self.logger = logger
        troubles = TroubleLog("The audit could not be sealed", logger: logger)
    }

    /// Works until the task is cancelled. Storage that fails for a while is logged and tried again.
    public func run() async {
        // Soon after a start, since the process before may have ended between two.
        var nextCheckpoint = clock.uptime + .seconds(60)
        while !Task.isCancelled {
            do {
                try await seal()
                if clock.uptime >= nextCheckpoint {
                    nextCheckpoint = clock.uptime + Self.checkpointInterval
                    try await checkpoint()
                    // After a step of the clock an age says nothing for a while.
                    if !clock.wasSet(within: BackendUpkeep.pauseAfterStep) { try await prune() }
                }
                troubles.succeeded()
            } catch { troubles.failed(error) }
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }

    /// Seals all entries that are committed.
    public func seal() async throws {
        while try await store.sealAudit(limit: Self.batch) == Self.batch {}
    }

    /// Signs the head, if entries came since the last time, and logs the note: a line that is kept elsewhere is what later shows that
    /// nothing was rewritten.
    @discardableResult
    public func checkpoint() async throws -> AuditCheckpoint? {
        let head = try await store.auditEnds().head
        let known = try await store.auditCheckpoints(after: head.size - 1, limit: 1)
        guard head.size > 0, known.isEmpty else { return nil }
        let checkpoint = try AuditCheckpoint(head, with: key)
        try await store.keep(checkpoint, at: clock.now)
        logger.info(
            "The audit was signed",
            metadata: ["size": "\(head.size)", "note": "\(checkpoint.note.replacing("\n", with: "\\n"))"])
        return checkpoint
    }

    /// Removes entries up to the newest checkpoint that is older than the retention; how many.
    @discardableResult
    public func prune() async throws -> Int {
        let now = clock.now
        var removed = 0
        while true {
            let count = try await store.pruneAudit(madeBefore: now - retention, at: now, signedBy: key, limit: Self.batch)
            removed += count
            if count < Self.batch { return removed }
        }
    }
}
