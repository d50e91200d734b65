import AppBackend
import ServiceErrors
import Synchronization

/// Bounds how many requests of the app backend are under way: what is refused costs next to nothing, so that the rest is answered in
/// time. Health, metrics and the hub protocol are not counted.
///
/// All together have `limit`, above which the answer is 503; one user has a quarter of it, above which the answer is 429, so that
/// the flood of one leaves room for all others. A request counts until its handler has answered, not while a body leaves.
final class RequestAdmission: Sendable {
    /// The place of a request.
    final class Place: Sendable {
        private let admission: RequestAdmission
        private let user = Mutex<UserID?>(nil)

        fileprivate init(_ admission: RequestAdmission) { self.admission = admission }

        /// Says whose request it is. Throws `too-many-requests` when this user has a full share under way.
        func assign(to user: UserID) throws(ServiceError) {
            guard admission.count.withLock({ $0.assign(to: user) }) else {
                throw ServiceError(
                    .tooManyRequests, "too many requests of this user are under way", retryAfter: RequestAdmission.retryAfter())
            }
            self.user.withLock { $0 = user }
        }

        fileprivate func leave() {
            let user = user.withLock { $0 }
            admission.count.withLock { $0.leave(user) }
        }
    }

    private let count: Mutex<RequestCount>

    init(limit: Int) { count = Mutex(RequestCount(limit: limit)) }

    /// How many requests are under way.
    var underWay: Int { count.withLock { $0.all } }

    /// Runs the handler of a request if there is a place for it. Throws `overloaded` otherwise.
    func handling<Answer>(_ handler: (Place) async throws -> Answer) async throws -> Answer {
        guard count.withLock({ $0.enter() }) else {
            throw ServiceError(.overloaded, "too many requests are under way", retryAfter: Self.retryAfter())
        }
        let place = Place(self)
        defer { place.leave() }
        return try await handler(place)
    }

    /// Seconds; not the same for all, so that those who were refused together do not come back together.
    private static func retryAfter() -> Int { Int.random(in: 1...4) }
}

/// How many requests are under way, of all and of each user. A value without I/O.
struct RequestCount: Sendable {
    /// Of all together.
    private(set) var all = 0
    private var ofUsers: [UserID: Int] = [:]
    private let limit: Int
    private let share: Int

    init(limit: Int) {
        self.limit = max(1, limit)
        share = max(1, limit / 4)
    }

    /// Whether there is a place.
    mutating func enter() -> Bool {
        guard all < limit else { return false }
        all += 1
        return true
    }

    /// Whether the place may be this user's.
    mutating func assign(to user: UserID) -> Bool {
        guard ofUsers[user, default: 0] < share else { return false }
        ofUsers[user, default: 0] += 1
        return true
    }

    /// A request has ended; `user` is whose it was, if that was said and granted.
    mutating func leave(_ user: UserID?) {
        all -= 1
        guard let user, let count = ofUsers[user] else { return }
        ofUsers[user] = count > 1 ? count - 1 : nil
    }
}
