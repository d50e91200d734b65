import AuditTrail
import Logging
import RichPushModel
import Synchronization

/// Records refused callers in the audit, each network's at a bounded pace: who invents credentials must neither fill the audit nor
/// keep the refusals of others out of it.
final class RefusalAudit: Sendable {
    /// How many refusals each node records in a minute, of one network and of all.
    static let perNetwork = 20
    static let inAll = 120

    private let store: any AuditStore
    private let clock: any ServiceClock
    private let logger: Logger
    private let ofNetwork = CallPace<SourceAddress>()
    private let ofAll = CallPace<Bool>()
    /// How many were not recorded since the last entry.
    private let unrecorded = Mutex(0)

    init(store: any AuditStore, clock: any ServiceClock, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Records a refusal, unless there were too many within a minute; the next entry says how many are missing before it. The refusal
    /// stands even if it cannot be recorded.
    func record(
        _ action: AuditAction, by actor: AuditActor, from source: SourceAddress, subject: String = "", details: String
    ) async {
        let uptime = clock.uptime
        do {
            try ofNetwork.take(source, perMinute: Self.perNetwork, at: uptime)
            try ofAll.take(true, perMinute: Self.inAll, at: uptime)
        } catch { return unrecorded.withLock { $0 += 1 } }
        let missing = unrecorded.withLock { count in
            defer { count = 0 }
            return count
        }
        let entry = AuditEntry(
            action, by: actor, from: source.prefix, at: clock.now, subject: subject,
            details: missing > 0 ? "\(details) unrecorded=\(missing)" : details)
        do { try await store.record(entry) } catch {
            unrecorded.withLock { $0 += missing + 1 }
            logger.warning("A refused caller could not be recorded in the audit")
        }
    }
}
