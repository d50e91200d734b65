import Logging
import Synchronization

/// Logs when a repeated operation begins to fail and when it works again, not each failure: polling twice a second would fill the log
/// while a database is down. Each new reason is logged as well.
public final class TroubleLog: Sendable {
    /// The most reasons that are logged until the operation works again.
    private static let reasons = 8

    private let logged = Mutex<Set<String>>([])
    private let logger: Logger
    private let failure: Logger.Message

    /// - Parameter failure: the message when it begins to fail, for example "The queue cannot be read".
    public init(_ failure: Logger.Message, logger: Logger) {
        self.failure = failure
        self.logger = logger
    }

    /// It failed.
    public func failed(_ error: any Error) {
        let reason = "\(error)"
        let isNews = logged.withLock { $0.count < Self.reasons && $0.insert(reason).inserted }
        if isNews { logger.warning(failure, metadata: ["error": "\(reason)"]) }
    }

    /// It worked.
    public func succeeded() {
        let isNews = logged.withLock { logged in
            defer { logged = [] }
            return !logged.isEmpty
        }
        if isNews { logger.notice("Over: \(failure)") }
    }
}
