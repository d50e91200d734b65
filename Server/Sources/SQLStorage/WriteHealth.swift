import Logging
import Synchronization

/// Remembers whether the last write could be kept, and tells the log when that changes. Only the names of the engine's result
/// codes are kept: they hold no data.
public final class WriteHealth: Sendable {
    private let cause = Mutex<String?>(nil)
    private let logger: Logger

    /// Creates the memory of one database; nothing has failed yet.
    public init(logger: Logger) { self.logger = logger }

    /// Why the last write failed, for example `SQLITE_FULL` or `disk_full`; `nil` when it was kept.
    public var lastFault: String? { cause.withLock { $0 } }

    /// A write that changed something is on the disk.
    public func succeeded() {
        let before = cause.withLock { cause in
            defer { cause = nil }
            return cause
        }
        guard let before else { return }
        logger.notice("The database keeps writes again", metadata: ["error_code": "\(before)"])
    }

    /// The engine could not keep a write. Errors of a statement itself say nothing of the database and do not count.
    public func failed(_ error: any Error) {
        let name: String
        switch error as? SQLFault {
        case .unavailable(let reason): name = String(reason.prefix { $0 != ":" })
        case .misconfigured: name = "misconfigured"
        case .outcomeUnknown: name = "outcome_unknown"
        default: return
        }
        let isNews = cause.withLock { cause in
            defer { cause = name }
            return cause != name
        }
        guard isNews else { return }
        logger.error("The database cannot keep writes", metadata: ["error_code": "\(name)"])
    }
}
