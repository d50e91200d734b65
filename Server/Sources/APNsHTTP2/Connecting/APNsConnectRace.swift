import NIOCore

/// The attempts that make one connection, in the manner of RFC 8305: another address is tried beside the first only when that is
/// slow, and a third beside both; the first that answers wins. A value without I/O.
struct APNsConnectRace<Address: Hashable> {
    /// What to do now.
    enum Instruction: Equatable {
        case none
        /// Choose an address that was not tried and begin.
        case attempt
        /// This one is the connection; every other attempt is to be closed.
        case use(Address)
        /// This attempt came too late.
        case discard(Address)
        /// Nothing can be reached.
        case fail
    }

    /// The most attempts for one connection; more do not help.
    static var maximumAttempts: Int { 6 }

    private(set) var tried: Set<Address> = []
    private var running: Set<Address> = []
    private var isExhausted = false
    private(set) var isOver = false

    /// An attempt was begun.
    mutating func began(_ address: Address) {
        tried.insert(address)
        running.insert(address)
    }

    /// There is no further address.
    mutating func exhausted() -> Instruction {
        isExhausted = true
        return failIfNothingRuns()
    }

    /// The latest attempt has been running for long enough to try another one beside it.
    func isSlow() -> Instruction { mayAttempt && running.count < 3 ? .attempt : .none }

    mutating func succeeded(_ address: Address) -> Instruction {
        running.remove(address)
        guard !isOver else { return .discard(address) }
        isOver = true
        return .use(address)
    }

    mutating func failed(_ address: Address) -> Instruction {
        running.remove(address)
        guard !isOver else { return .none }
        return mayAttempt ? .attempt : failIfNothingRuns()
    }

    /// The time for the whole connection is up.
    mutating func timedOut() -> Instruction {
        guard !isOver else { return .none }
        isOver = true
        return .fail
    }

    private var mayAttempt: Bool { !isOver && !isExhausted && tried.count < Self.maximumAttempts }

    private mutating func failIfNothingRuns() -> Instruction {
        guard !isOver, running.isEmpty else { return .none }
        isOver = true
        return .fail
    }
}
