import NIOCore

/// Moves the connections of a pool to a new provider token one by one (APNs reference 2.1): the next one follows when the one
/// before has an answer, so that a token that APNs does not like spoils one connection and not all of them.
///
/// A value without I/O. Both tokens are valid meanwhile, since renewal is long before the hour is up; after `limit` everybody
/// has the new one.
struct ProviderTokenRollout {
    static let limit: TimeAmount = .minutes(5)

    /// The connection that goes first, and how many answers are still of the old token's requests or decide.
    private var pioneer: (id: Int, owed: Int)?
    private var previous: APNsAuthorization?
    private(set) var current: APNsAuthorization?
    private var end = NIODeadline.uptimeNanoseconds(0)

    /// Takes the newest token.
    mutating func offer(_ newest: APNsAuthorization, at now: NIODeadline) {
        guard current?.generation != newest.generation else { return }
        previous = current
        current = newest
        pioneer = nil
        end = now + Self.limit
    }

    /// What a connection sends now.
    ///
    /// - Parameters:
    ///   - carried: the generation of its last request; 0 for a connection without one, which begins with the newest.
    ///   - inFlight: requests without an answer, all of the token carried so far.
    mutating func authorization(for id: Int, carried: UInt64, inFlight: Int, at now: NIODeadline) -> APNsAuthorization? {
        guard let previous, now < end, carried != 0, carried != current?.generation else { return current }
        guard pioneer == nil else { return previous }
        pioneer = (id, inFlight + 1)
        return current
    }

    /// Requests ended on the connection.
    mutating func answered(_ id: Int, count: Int = 1) {
        guard var pioneer, pioneer.id == id else { return }
        pioneer.owed -= count
        self.pioneer = pioneer.owed > 0 ? pioneer : nil
    }

    /// The connection takes no more requests.
    mutating func gone(_ id: Int) {
        if pioneer?.id == id { pioneer = nil }
    }

    /// The old token is refused: nobody may use it any more.
    mutating func forgetPrevious() { previous = nil }
}
