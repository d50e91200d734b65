import Logging
import RichPushModel
import Synchronization

/// Remembers whether the last write was kept, and logs changes. Only the names of the engine's result
/// codes are kept: they hold no data.
public final class WriteHealth: Sendable {
    private struct State {
        /// What is wrong; absent when the last write was kept.
        var name: String?
        /// When a disk was found full last, by the machine's uptime.
        var full: Duration?
        /// Writes that were kept.
        var commits = 0
        /// When a change was kept last, by the machine's uptime.
        var kept: Duration?
    }

    /// PostgreSQL's word for a full disk. There a small write is kept that fits into a page which has room, while larger ones fail:
    /// it is believed only when none has failed so for a while, whatever else went wrong meanwhile.
    private static let full = "disk_full"
    private static let quiet: Duration = .seconds(15)

    private let state = Mutex(State())
    private let clock: any ServiceClock
    private let logger: Logger

    /// Creates the memory of one database; nothing has failed yet.
    public init(clock: any ServiceClock = .system, logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    /// Why the last write failed, for example `SQLITE_FULL` or `disk_full`; `nil` when it was kept.
    public var lastFault: String? { state.withLock { $0.name } }

    /// Commits that changed something and were kept, since the start.
    public var commits: Int { state.withLock { $0.commits } }

    /// A write that changed something is on the disk.
    public func succeeded() {
        let now = clock.uptime
        let before: String? = state.withLock { state in
            state.commits += 1
            if let full = state.full, now - full < Self.quiet { return nil }
            defer { state = State(commits: state.commits, kept: state.kept) }
            return state.name
        }
        guard let before else { return }
        logger.notice("The database keeps writes again", metadata: ["error_code": "\(before)"])
    }

    /// How long ago a change of the database was kept last; `nil` when none was.
    public var sinceLastKept: Duration? { state.withLock { $0.kept }.map { clock.uptime - $0 } }

    /// A transaction that changed rows is on the disk. `succeeded` is called besides, also for one that changed nothing.
    public func kept() {
        let now = clock.uptime
        state.withLock { $0.kept = now }
    }

    /// What an engine's name for a fault means, as a clause for an operator; the name alone where nothing is known of it.
    public static func text(_ name: String) -> String { meanings[name].map { "\($0) (\(name))" } ?? name }

    private static let meanings = [
        "SQLITE_FULL": "the disk is full",
        "SQLITE_READONLY": "the database file or its file system is read-only",
        "SQLITE_IOERR": "the disk reports an error, or the disk quota is used up",
        "SQLITE_CANTOPEN": "a database file cannot be opened; see its permissions and the limit of open files",
        "SQLITE_BUSY": "another program holds the database",
        "disk_full": "the disk of the database server is full",
        "connection_failure": "the database server cannot be reached",
        "read_only_sql_transaction": "the database server takes no writes",
        "query_canceled": "the database server took too long",
        "too_many_connections": "the database server has no free connection",
        "admin_shutdown": "the database server is stopping",
        "cannot_connect_now": "the database server is starting",
        "outcome_unknown": "a commit was not answered: the connection ended, or a synchronous replica is unavailable",
    ]

    /// The engine could not keep a write. Errors of a statement itself say nothing of the database and do not count.
    public func failed(_ error: any Error) {
        let name: String
        switch error as? SQLFault {
        case .unavailable(let reason): name = String(reason.prefix { $0 != ":" })
        case .misconfigured: name = "misconfigured"
        case .outcomeUnknown: name = "outcome_unknown"
        default: return
        }
        let now = clock.uptime
        let isNews = state.withLock { state in
            if name == Self.full { state.full = now }
            let isFull = state.full.map { now - $0 < Self.quiet } ?? false
            let logged = isFull ? Self.full : name
            defer { state.name = logged }
            return state.name != logged
        }
        guard isNews else { return }
        logger.error("The database cannot keep writes", metadata: ["error_code": "\(name)"])
    }
}
