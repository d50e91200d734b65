import SQLStorage

/// Whether work is done again after a fault that left nothing written.
struct RepeatPlan: Hashable {
    enum Instruction: Hashable {
        case again(after: Duration)
        /// The same, all of it, as soon as those are through that wait for their turn already.
        case inTurn
        /// The same, each write for itself: fewer are then in each other's way.
        case apart
        case giveUp(SQLFault)
    }

    /// Until when conflicts are worth another try.
    let deadline: Duration
    private var takesTurns: Bool
    private var conflicts = 0
    private var duplicates = 0
    private var losses = 0

    /// With `takesTurns` work waits for its turn after the second conflict. Without, it can only hope: who has just been through is
    /// the first to come back, and whoever waited finds the same in its way again.
    init(deadline: Duration, takesTurns: Bool = false) {
        self.deadline = deadline
        self.takesTurns = takesTurns
    }

    /// There are none, as in a database without the table for them.
    mutating func turnsAreMissing() { takesTurns = false }

    /// After so many conflicts without turns writes that share a transaction are parted.
    private static let conflictsTogether = 3
    private static let conflictLimit = 30
    private static let lossLimit = 2

    /// `jitter` is 0 to 1; `isShared` says that several writes were in the transaction.
    mutating func next(after fault: PostgresFault, isShared: Bool, at uptime: Duration, jitter: Double) -> Instruction {
        switch fault.kind {
        case .conflict:
            conflicts += 1
            guard conflicts <= Self.conflictLimit, uptime < deadline else { return .giveUp(fault.fault) }
            // The first one costs nothing: the one who was faster is done.
            if conflicts == 1 { return .again(after: .zero) }
            if takesTurns { return .inTurn }
            if isShared, conflicts > Self.conflictsTogether { return .apart }
            return .again(after: min(.milliseconds(1) * (1 << min(conflicts, 10)), .milliseconds(250)) * jitter)
        case .duplicate:
            duplicates += 1
            if duplicates == 1 { return .again(after: .zero) }
            // One of several is in the way of a rule: the others must not fail with it.
            return isShared ? .apart : .giveUp(fault.fault)
        case .broken, .statementsLost:
            losses += 1
            return losses <= Self.lossLimit ? .again(after: .zero) : .giveUp(fault.fault)
        // Of a single statement others are told before; here it was the commit, of which nobody knows whose part it was.
        case .blocked where isShared:
            return .apart
        case .unreachable, .late, .blocked, .unavailable, .refused:
            return .giveUp(fault.fault)
        }
    }
}
