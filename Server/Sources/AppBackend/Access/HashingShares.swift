/// Who has how much of the queue of password hashes. A value without I/O.
struct HashingShares: Sendable {
    private let ofSource: Int
    private let ofAccount: Int
    private var bySource: [SourceAddress: Int] = [:]
    private var byAccount: [String: Int] = [:]

    /// Shares of a queue in which `capacity` hashes may wait.
    init(capacity: Int) {
        ofSource = max(1, capacity / 2)
        ofAccount = max(1, capacity / 8)
    }

    /// Takes a place for an attempt, unless its network or its account has as many as they may.
    mutating func take(_ attempt: SignInAttempt) -> Bool {
        guard bySource[attempt.source, default: 0] < ofSource, byAccount[attempt.account, default: 0] < ofAccount else {
            return false
        }
        bySource[attempt.source, default: 0] += 1
        byAccount[attempt.account, default: 0] += 1
        return true
    }

    /// Gives a place back that was taken.
    mutating func giveBack(_ attempt: SignInAttempt) {
        Self.decrease(&bySource, attempt.source)
        Self.decrease(&byAccount, attempt.account)
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
