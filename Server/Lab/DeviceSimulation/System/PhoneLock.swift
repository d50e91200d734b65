/// How far a phone is locked.
enum PhoneLock: String, Hashable, Sendable, CaseIterable {
    case unlocked, locked
    /// Locked since it was switched on: what is protected until the first unlock cannot be read.
    case beforeFirstUnlock

    var isLocked: Bool { self != .unlocked }
}
