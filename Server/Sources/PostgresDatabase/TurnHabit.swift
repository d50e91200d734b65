/// Whether the writes of a connection begin in their turn: for a while after conflicts they do.
///
/// Otherwise each group would meet the conflicts anew, and those that wait for their turn would meet the one that has just been
/// through. When all of them take turns nobody is in anybody's way.
struct TurnHabit: Hashable {
    /// How many groups of writes after the last conflict.
    static let length = 8

    private var left = 0

    /// The writes of this connection and others were in each other's way, more than once.
    mutating func hadConflicts() { left = Self.length }

    /// There are no turns to take, or none comes: what had no conflict is not kept waiting for it.
    mutating func forget() { left = 0 }

    /// Whether the next group begins in its turn; counts it.
    mutating func next() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
