import AuditTrail
import Logging
import RichPushModel
import Synchronization

/// Records refused callers in the audit, each one's at a bounded pace: who invents credentials must neither fill the audit nor keep the
/// refusals of others out of it. Callers who proved who they are have a budget of their own.
final class RefusalAudit: Sendable {
    /// A caller whose credential is a real one, also one that has ended.
    enum KnownCaller: Hashable, Sendable {
        case account(UserID)
        /// A key of a hub, by the name of its rule and that of the hub in lower case, or of all hubs.
        case hubRule(String, hub: String?)
    }

    /// How many refusals each node records in a minute, of one network or known caller and of all of each kind.
    static let perCaller = 20
    static let inAll = 120

    private let store: any AuditStore
    private let clock: any ServiceClock
    private let logger: Logger
    private let networks = RefusalBudget<SourceAddress>()
    private let known = RefusalBudget<KnownCaller>()

    init(store: any AuditStore, clock: any ServiceClock, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Records a refusal, unless there were too many within a minute of this caller, or of this network if the caller is not known. The
    /// next entry of that kind says how many are missing before it. The refusal stands even if it cannot be recorded.
    func record(
        _ action: AuditAction, by actor: AuditActor, of caller: KnownCaller? = nil, from source: SourceAddress,
        subject: String = "", details: String
    ) async {
        if let caller {
            await record(known, caller) { entry(action, actor, source, subject, details, missing: $0) }
        } else {
            await record(networks, source) { entry(action, actor, source, subject, details, missing: $0) }
        }
    }

    private func record<Caller>(
        _ budget: RefusalBudget<Caller>, _ caller: Caller, _ entry: (_ missing: Int) -> AuditEntry
    ) async {
        guard let missing = budget.take(caller, at: clock.uptime) else { return }
        do { try await store.record(entry(missing)) } catch {
            budget.miss(missing + 1)
            logger.warning("A refused caller could not be recorded in the audit")
        }
    }

    private func entry(
        _ action: AuditAction, _ actor: AuditActor, _ source: SourceAddress, _ subject: String, _ details: String, missing: Int
    ) -> AuditEntry {
        AuditEntry(
            action, by: actor, from: source.prefix, at: clock.now, subject: subject,
            details: missing > 0 ? "\(details) unrecorded=\(missing)" : details)
    }
}

/// How many refusals of callers of one kind may still be recorded, and how many were not since the last entry.
private final class RefusalBudget<Caller: Hashable & Sendable>: Sendable {
    private let ofCaller = CallPace<Caller>()
    private let ofAll = CallPace<Bool>()
    private let unrecorded = Mutex(0)

    /// How many are missing before the entry of this refusal; `nil` when it is to be missing too.
    func take(_ caller: Caller, at uptime: Duration) -> Int? {
        do {
            try ofCaller.take(caller, perMinute: RefusalAudit.perCaller, at: uptime)
            try ofAll.take(true, perMinute: RefusalAudit.inAll, at: uptime)
        } catch {
            miss(1)
            return nil
        }
        return unrecorded.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    /// Counts refusals that have no entry.
    func miss(_ count: Int) { unrecorded.withLock { $0 += count } }
}
