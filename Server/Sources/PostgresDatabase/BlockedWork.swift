import SQLStorage

/// Work that others' locks were in the way of: it waits here and not on a connection, which others use meanwhile, and is tried again
/// now and then until its time is over. Nothing of it is written.
struct BlockedWork {
    private struct Entry {
        let work: any PendingWork
        /// What the server said when it was tried last.
        let fault: SQLFault
        let notBefore: Duration
        /// Whether it was not begun, because its turn did not come.
        let isInTurn: Bool
    }

    /// More are refused: each costs the others a moment at every round.
    static let limit = 64
    /// The same for what waits for its turn: it is tried again together.
    static let limitInTurn = 256
    /// How long before work is tried again.
    static let pause: Duration = .milliseconds(500)

    private var entries: [Entry] = []
    /// How long after it was asked for work is given up.
    private let patience: Duration

    init(patience: Duration) { self.patience = patience }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// Whether something of it has met a lock, other than that of the turns.
    var knowsOfLocks: Bool { entries.contains { !$0.isInTurn } }

    /// Takes work in; `false` when its time is over, or when too much waits here already.
    mutating func add(_ work: any PendingWork, _ fault: SQLFault, inTurn: Bool = false, at uptime: Duration) -> Bool {
        let alike = entries.count { $0.isInTurn == inTurn }
        guard alike < (inTurn ? Self.limitInTurn : Self.limit), uptime < work.since + patience else { return false }
        entries.append(Entry(work: work, fault: fault, notBefore: uptime + Self.pause, isInTurn: inTurn))
        return true
    }

    /// Hands out what was in vain, with why.
    mutating func takeExpired(at uptime: Duration) -> [(work: any PendingWork, fault: SQLFault)] {
        let expired = entries.filter { uptime >= $0.work.since + patience }
        entries.removeAll { uptime >= $0.work.since + patience }
        return expired.map { ($0.work, $0.fault) }
    }

    /// Hands out what has met a lock and is to be tried again now, the oldest first.
    mutating func takeDue(at uptime: Duration, limit: Int) -> [any PendingWork] { take(inTurn: false, at: uptime, limit: limit) }

    /// Hands out what is to ask for its turn again now, the oldest first.
    mutating func takeDueInTurn(at uptime: Duration, limit: Int) -> [any PendingWork] {
        take(inTurn: true, at: uptime, limit: limit)
    }

    private mutating func take(inTurn: Bool, at uptime: Duration, limit: Int) -> [any PendingWork] {
        let due = entries.indices.filter { entries[$0].isInTurn == inTurn && entries[$0].notBefore <= uptime }.prefix(limit)
        let works = due.map { entries[$0].work }
        for index in due.reversed() { entries.remove(at: index) }
        return works
    }

    /// Hands out everything.
    mutating func takeAll() -> [any PendingWork] {
        defer { entries = [] }
        return entries.map(\.work)
    }
}
