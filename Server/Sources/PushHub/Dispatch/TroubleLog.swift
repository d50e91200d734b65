import Logging
import Synchronization

/// Tells the log when something that is tried again and again begins to fail, and when it works again, and not each time in between: what
/// is looked at twice a second would fill it while a database is away.
public final class TroubleLog: Sendable {
    private let isTold = Mutex(false)
    private let logger: Logger
    private let failure: Logger.Message

    /// - Parameter failure: what is said when it begins to fail, for example "The queue cannot be read".
    public init(_ failure: Logger.Message, logger: Logger) {
        self.failure = failure
        self.logger = logger
    }

    /// It failed.
    public func failed(_ error: any Error) {
        let isNews = isTold.withLock { isTold in
            defer { isTold = true }
            return !isTold
        }
        if isNews { logger.warning(failure, metadata: ["error": "\(error)"]) }
    }

    /// It worked.
    public func succeeded() {
        let isNews = isTold.withLock { isTold in
            defer { isTold = false }
            return isTold
        }
        if isNews { logger.notice("Over: \(failure)") }
    }
}
