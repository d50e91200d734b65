import Logging
import PushHub
import Synchronization

/// What became of the pushes of a batch at one push service.
struct PushServiceRound {
    /// Those that it has taken, or refused for their own sake.
    var served = 0
    /// The others, and why the last of them was not served.
    var failed = 0
    var cause = ""
    /// Those of them for which it refused this server.
    var refused = 0

    /// A few failures among many pushes say nothing of the push service.
    fileprivate var isFailing: Bool { failed > 0 && failed * 10 >= failed + served }
    fileprivate var isRefusal: Bool { refused * 2 > failed }

    /// Counts a push that was not served.
    mutating func noteFailure(_ cause: String, isRefusal: Bool) {
        failed += 1
        refused += isRefusal ? 1 : 0
        self.cause = cause
    }
}

/// Logs when a push service begins to fail, every few minutes while it does, and when it takes pushes again. Its batches would fill the log.
///
/// Bounded: browsers name the hosts, so it follows only a few at once. One that has accepted a push before takes the place of one that has not.
final class PushServiceLog: Sendable {
    /// The hosts that are followed at once.
    static let capacity = 20
    /// The least time between two lines about failures of a host. One without a failure for so long may be forgotten.
    static let interval: Duration = .seconds(300)
    /// The failures in a row that are a trouble of the push service.
    static let patience = 3

    private struct Course {
        /// Whether it has accepted a push before.
        var isProven: Bool
        var failuresInARow = 0
        /// The failures that no line has counted yet.
        var count = 0
        /// Whether the last line says that it fails.
        var isOpen = false
        var loggedAt: Duration?
        var failedAt: Duration
    }

    private enum News {
        case fails(count: Int)
        case works
    }

    private let courses = Mutex<[String: Course]>([:])
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Takes what a batch came to at the push service of an origin.
    ///
    /// - Parameter isProven: whether the push service has accepted a push of this process.
    func note(_ round: PushServiceRound, of origin: String, isProven: Bool, hub: HubID, at uptime: Duration) {
        let news = courses.withLock { courses in
            round.isFailing
                ? Self.failure(round, of: origin, isProven, at: uptime, &courses) : Self.success(round, of: origin, &courses)
        }
        // Nothing but the host: the path of an endpoint is a secret.
        let host = "\(origin.split(separator: "/").last ?? "")"
        switch news {
        case nil: return
        case .works: logger.notice("A push service takes the pushes to its browsers again", metadata: ["host": "\(host)"])
        case .fails(let count) where round.isRefusal:
            logger.error(
                "A push service does not accept this server for browsers: compare the VAPID keys and the subject",
                metadata: ["hub_id": "\(hub.number)", "host": "\(host)", "reason": "\(round.cause)", "count": "\(count)"])
        case .fails(let count):
            logger.warning(
                "A push service does not take the pushes to its browsers now; they wait and are tried again",
                metadata: ["host": "\(host)", "reason": "\(round.cause)", "count": "\(count)"])
        }
    }

    private static func failure(
        _ round: PushServiceRound, of origin: String, _ isProven: Bool, at uptime: Duration, _ courses: inout [String: Course]
    ) -> News? {
        if courses[origin] == nil, !makeRoom(isProven, at: uptime, &courses) { return nil }
        var course = courses[origin] ?? Course(isProven: isProven, failedAt: uptime)
        course.isProven = isProven
        course.failedAt = uptime
        course.failuresInARow += round.failed
        course.count += round.failed
        defer { courses[origin] = course }
        // What has never accepted this server needs the operator at once.
        let patience = round.isRefusal && !isProven ? 1 : Self.patience
        guard course.failuresInARow >= patience, course.loggedAt.map({ uptime - $0 >= interval }) ?? true else { return nil }
        defer { course.count = 0 }
        (course.isOpen, course.loggedAt) = (true, uptime)
        return .fails(count: course.count)
    }

    private static func success(_ round: PushServiceRound, of origin: String, _ courses: inout [String: Course]) -> News? {
        guard round.served > 0, let course = courses[origin] else { return nil }
        courses[origin]?.failuresInARow = 0
        courses[origin]?.count = 0
        courses[origin]?.isOpen = false
        return course.isOpen ? .works : nil
    }

    /// Whether one more host may be followed.
    private static func makeRoom(_ isProven: Bool, at uptime: Duration, _ courses: inout [String: Course]) -> Bool {
        guard courses.count >= capacity else { return true }
        let leaving = courses.filter { uptime - $0.value.failedAt >= interval || (isProven && !$0.value.isProven) }
        guard let (origin, _) = leaving.min(by: { $0.value.failedAt < $1.value.failedAt }) else { return false }
        courses[origin] = nil
        return true
    }
}
