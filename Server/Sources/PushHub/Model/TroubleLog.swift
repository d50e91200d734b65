import Logging
import Synchronization

/// Tells the log when something that is tried again and again begins to fail, and when it works again, and not each time in between: what
/// is looked at twice a second would fill it while a database is away. What fails for another reason is told as well.
public final class TroubleLog: Sendable {
    /// The reasons that are told of one trouble, at most so many.
    private static let reasons = 8

    private let told = Mutex<Set<String>>([])
    private let logger: Logger
    private let failure: Logger.Message

    /// - Parameter failure: what is said when it begins to fail, for example "The queue cannot be read".
    public init(_ failure: Logger.Message, logger: Logger) {
        self.failure = failure
        self.logger = logger
    }

    /// It failed.
    public func failed(_ error: any Error) {
        let reason = "\(error)"
        let isNews = told.withLock { $0.count < Self.reasons && $0.insert(reason).inserted }
        if isNews { logger.warning(failure, metadata: ["error": "\(reason)"]) }
    }

    /// It worked.
    public func succeeded() {
        let isNews = told.withLock { told in
            defer { told = [] }
            return !told.isEmpty
        }
        if isNews { logger.notice("Over: \(failure)") }
    }
}
