import SQLStorage

/// Whether work is done again after a fault that left nothing written.
struct RepeatPlan: Hashable {
    enum Instruction: Hashable {
        case again(after: Duration)
        /// The same, each write for itself: fewer are then in each other's way.
        case apart
        case giveUp(SQLFault)
    }

    /// Until when conflicts are worth another try.
    let deadline: Duration
    private var conflicts = 0
    private var duplicates = 0
    private var losses = 0

    init(deadline: Duration) { self.deadline = deadline }

    /// After so many conflicts writes that share a transaction are parted.
    private static let conflictsTogether = 3
    private static let conflictLimit = 30
    private static let lossLimit = 2

    /// `jitter` is 0 to 1; `isShared` says that several writes were in the transaction.
    mutating func next(after fault: PostgresFault, isShared: Bool, at uptime: Duration, jitter: Double) -> Instruction {
        switch fault.kind {
        case .conflict:
            conflicts += 1
            guard conflicts <= Self.conflictLimit, uptime < deadline else { return .giveUp(fault.fault) }
            if isShared, conflicts > Self.conflictsTogether { return .apart }
            // The first one costs nothing: the one who was faster is done.
            let pause: Duration = conflicts == 1 ? .zero : min(.milliseconds(1) * (1 << min(conflicts, 10)), .milliseconds(250))
            return .again(after: pause * jitter)
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
