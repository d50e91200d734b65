import NIOCore

/// Moves the connections of a pool to a new provider token one by one (Reference/APNs.md#2-1): the next one follows when the one
/// before has an answer, so that a token that APNs does not like spoils one connection and not all of them.
///
/// A value without I/O. Both tokens are valid meanwhile, since renewal is long before the hour is up; after `limit` every
/// connection uses the new one. If APNs answers it with `TooManyProviderTokenUpdates`, connections that have not sent it keep the
/// old one while that is valid, and then try again (Reference/APNs.md#4).
struct ProviderTokenRollout {
    static let limit: TimeAmount = .minutes(5)
    /// The age up to which a token is used for certain: well below the hour, and with time left for one more rollout.
    static let goodAge: TimeAmount = .minutes(55)

    /// The connection that goes first, and how many answers are still of the old token's requests or decide.
    private var pioneer: (id: Int, owed: Int)?
    private var previous: APNsAuthorization?
    /// The newest generation that APNs refused as too old. It may be known before the newer token is offered.
    private var refused: UInt64 = 0
    private(set) var current: APNsAuthorization?
    private var end = NIODeadline.uptimeNanoseconds(0)
    /// Until when the tokens are good.
    private var previousGoodUntil = NIODeadline.uptimeNanoseconds(0)
    private var currentGoodUntil = NIODeadline.uptimeNanoseconds(0)
    /// While the new token is not to be used because APNs complained of it.
    private var heldUntil: NIODeadline?

    /// Takes the newest token, and how old it is already.
    mutating func offer(_ newest: APNsAuthorization, age: TimeAmount = .zero, at now: NIODeadline) {
        guard current?.generation != newest.generation else { return }
        previous = current.flatMap { $0.generation > refused ? $0 : nil }
        previousGoodUntil = currentGoodUntil
        current = newest
        currentGoodUntil = now + max(.zero, Self.goodAge - age)
        pioneer = nil
        heldUntil = nil
        end = now + Self.limit
    }

    /// APNs answered a request that carried this token with `TooManyProviderTokenUpdates`.
    mutating func hold(refused generation: UInt64, at now: NIODeadline) {
        guard previous != nil, generation == current?.generation, now < previousGoodUntil else { return }
        pioneer = nil
        heldUntil = previousGoodUntil
    }

    /// What a connection sends now.
    ///
    /// - Parameters:
    ///   - carried: the generation of its last request; 0 for a connection without one, which begins with the newest.
    ///   - inFlight: requests without an answer, all of the token carried so far.
    mutating func authorization(for id: Int, carried: UInt64, inFlight: Int, at now: NIODeadline) -> APNsAuthorization? {
        // A connection that has sent the new token keeps it: going back would be one more change.
        guard let previous, carried != current?.generation else { return current }
        if let heldUntil {
            guard now >= heldUntil else { return previous }
            self.heldUntil = nil
            end = now + Self.limit
        }
        // One that missed a whole token goes to the newest at once: two changes close together are what APNs punishes.
        guard now < end, carried == previous.generation else { return current }
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

    /// APNs refuses the token of this generation as too old: no connection may start with it, or keep it when there is another.
    mutating func refuse(_ generation: UInt64) {
        refused = max(refused, generation)
        guard let previous, previous.generation <= refused else { return }
        self.previous = nil
        heldUntil = nil
    }
}
