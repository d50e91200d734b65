/// Who has how much of the queue of password hashes. A value without I/O.
struct HashingShares: Sendable {
    private let ofSource: Int
    private let ofUser: Int
    private var bySource: [SourceAddress: Int] = [:]
    private var byUser: [String: Int] = [:]

    /// Shares of a queue in which `capacity` hashes may wait.
    init(capacity: Int) {
        ofSource = max(1, capacity / 2)
        ofUser = max(1, capacity / 8)
    }

    /// Takes a place for the pair, unless its network or its user has as many as they may.
    mutating func take(_ pair: SignInThrottle.Key) -> Bool {
        guard bySource[pair.source, default: 0] < ofSource, byUser[pair.user, default: 0] < ofUser else { return false }
        bySource[pair.source, default: 0] += 1
        byUser[pair.user, default: 0] += 1
        return true
    }

    /// Gives a place back that was taken.
    mutating func giveBack(_ pair: SignInThrottle.Key) {
        Self.decrease(&bySource, pair.source)
        Self.decrease(&byUser, pair.user)
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
