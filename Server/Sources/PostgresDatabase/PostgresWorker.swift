import Foundation
import Logging
import SQLStorage
import Synchronization

/// A thread with a connection of its own, which it opens when there is work and none is open.
final class PostgresWorker {
    /// What the workers of a database share.
    struct Context: Sendable {
        var link: PostgresConnection.Context
        var texts: TransactionText
        var health: WriteHealth
        var gate: ConnectionGate
    }

    let context: Context
    private let writes: Bool
    private var open: PostgresConnection?
    private var blocked: BlockedWork
    /// Whether its writes begin in their turn.
    var turns = WriteLockPreference()
    private var nextRound = Duration.zero

    init(_ context: Context, writes: Bool) {
        self.context = context
        self.writes = writes
        blocked = BlockedWork(timeout: context.link.limits.statement)
    }

    /// Takes work until the queue ends, then closes the connection.
    static func start(named name: String, _ queue: WorkQueue<any PendingWork>, _ context: Context, writes: Bool) {
        let thread = Thread {
            PostgresWorker(context, writes: writes).run(queue)
        }
        thread.name = name
        thread.start()
    }

    /// What has to run alone shares nothing.
    private static func batch(_ waiting: [any PendingWork], _ limit: Int) -> Int {
        waiting.prefix(limit).firstIndex { $0.isAlone } ?? min(waiting.count, limit)
    }

    /// How often the worker polls for new work while some is blocked.
    private static let look = Duration.milliseconds(20)
    /// How often blocked work is retried while it stays blocked, so that it does not starve other work.
    private static let round = Duration.milliseconds(100)
    /// How many blocked writes are tried together. Reads are tried one by one.
    private static let writesOfRound = 2

    private func run(_ queue: WorkQueue<any PendingWork>) {
        let limit = context.link.limits.batch
        while let works = queue.take(waits: blocked.isEmpty, { writes ? Self.batch($0, limit) : 1 }) {
            if !works.isEmpty { work(works) }
            let hasTried = tryBlocked()
            if works.isEmpty, !hasTried { pause(Self.look) }
        }
        for work in blocked.takeAll() { work.fail(PostgresDatabase.closed) }
        open?.close()
    }

    /// Retries some of the blocked work that is due, with other work in between. After a success the next retry follows at once.
    private func tryBlocked() -> Bool {
        let now = context.link.clock.uptime
        for (work, fault) in blocked.takeExpired(at: now) { giveUp(work, fault) }
        let inTurn = blocked.takeDueInTurn(at: now, limit: context.link.limits.batch)
        if !inTurn.isEmpty {
            WriteGroup(worker: self, knowsOfLocks: false, turn: context.link.limits.lockTimeout, keepsAsking: true).run(inTurn)
            return true
        }
        guard now >= nextRound else { return false }
        let due = blocked.takeDue(at: now, limit: writes ? Self.writesOfRound : 1)
        guard !due.isEmpty else { return false }
        let others = blocked.count
        // A lock is known to be held, so a further lock gets a short timeout.
        perform(due, knowsOfLocks: true)
        if blocked.count > others { nextRound = context.link.clock.uptime + Self.round }
        return true
    }

    /// Keeps work that met a lock and has written nothing for a retry, or fails it when its time is over.
    ///
    /// With `inTurn` it was not begun, since it did not get its turn in time, and asks for it again.
    func block(_ work: any PendingWork, _ fault: PostgresFault, inTurn: Bool) {
        let isKept = blocked.add(work, fault.fault, inTurn: inTurn, at: context.link.clock.uptime)
        if !isKept { giveUp(work, fault.fault) }
    }

    private func giveUp(_ work: any PendingWork, _ fault: SQLFault) {
        // A lock says nothing about whether the database takes writes, so `health` is not informed.
        work.fail(fault)
    }

    private func perform(_ works: [any PendingWork], knowsOfLocks: Bool) {
        if writes {
            let turn = turns.next() ? context.link.limits.turnTimeout : nil
            WriteGroup(worker: self, knowsOfLocks: knowsOfLocks, turn: turn).run(works)
        } else {
            let run = ReadRun(worker: self, knowsOfLocks: knowsOfLocks)
            works.forEach(run.run)
        }
    }

    /// How long a transaction waits for a lock.
    func lockTimeout(knowsOfLocks: Bool) -> Duration {
        let limits = context.link.limits
        guard knowsOfLocks || blocked.knowsOfLocks else { return limits.lockTimeout }
        // Writes wait for each other's rows, reads for nothing but such a lock.
        return writes ? limits.shortLockTimeout : limits.minimalLockTimeout
    }

    private func work(_ works: [any PendingWork]) {
        let oldest = context.link.clock.uptime - context.link.limits.queue
        for late in works where late.since < oldest {
            late.fail(SQLFault.unavailable(reason: "too_many_connections: no connection was free in time"))
        }
        let works = works.filter { $0.since >= oldest }
        if !works.isEmpty { perform(works, knowsOfLocks: blocked.knowsOfLocks) }
    }

    /// The open connection, or a new one. Throws `PostgresFault.unreachable` while the server cannot be reached.
    func link() throws -> PostgresConnection {
        if let open {
            guard open.isBroken else { return open }
            open.close()
            self.open = nil
        }
        let link = try context.gate.enter(context.link)
        open = link
        return link
    }

    func pause(_ duration: Duration) {
        guard duration > .zero else { return }
        finishRollBack()
        Thread.sleep(forTimeInterval: duration / .seconds(1))
    }

    /// Leaves no failed transaction open on the connection.
    func finishRollBack() { open?.finishRollBack() }

    /// Whether statements are sent with their text each time, because a pooler loses them.
    var sendsTexts: Bool { context.gate.sendsTexts }

    func note(_ fault: PostgresFault) {
        if fault.kind == .statementsLost { context.gate.statementsAreLost() }
    }
}

/// Work that was blocked by locks of other transactions. It waits here, without occupying a connection, and is retried until its timeout.
/// Nothing of it is written.
struct BlockedWork {
    private struct Entry {
        let work: any PendingWork
        /// The fault of the last try.
        let fault: SQLFault
        let notBefore: Duration
        /// Whether it was not begun, because it did not get its turn in time.
        let isInTurn: Bool
    }

    /// More are refused, because each delays the others in every round.
    static let limit = 64
    /// The same for what waits for its turn: it is tried again together.
    static let limitInTurn = 256
    /// How long before work is tried again.
    static let pause: Duration = .milliseconds(500)

    private var entries: [Entry] = []
    /// How long after its request work fails.
    private let timeout: Duration

    init(timeout: Duration) { self.timeout = timeout }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// Whether something of it has met a lock, other than that of the turns.
    var knowsOfLocks: Bool { entries.contains { !$0.isInTurn } }

    /// Takes work in; `false` when its time is over, or when too much waits here already.
    mutating func add(_ work: any PendingWork, _ fault: SQLFault, inTurn: Bool = false, at uptime: Duration) -> Bool {
        let alike = entries.count { $0.isInTurn == inTurn }
        guard alike < (inTurn ? Self.limitInTurn : Self.limit), uptime < work.since + timeout else { return false }
        entries.append(Entry(work: work, fault: fault, notBefore: uptime + Self.pause, isInTurn: inTurn))
        return true
    }

    /// Removes and returns expired work, with the fault of its last try.
    mutating func takeExpired(at uptime: Duration) -> [(work: any PendingWork, fault: SQLFault)] {
        let expired = entries.filter { uptime >= $0.work.since + timeout }
        entries.removeAll { uptime >= $0.work.since + timeout }
        return expired.map { ($0.work, $0.fault) }
    }

    /// Removes and returns work that met a lock and is due for a retry, the oldest first.
    mutating func takeDue(at uptime: Duration, limit: Int) -> [any PendingWork] { take(inTurn: false, at: uptime, limit: limit) }

    /// Removes and returns work that is due to ask for its turn again, the oldest first.
    mutating func takeDueInTurn(at uptime: Duration, limit: Int) -> [any PendingWork] {
        take(inTurn: true, at: uptime, limit: limit)
    }

    private mutating func take(inTurn: Bool, at uptime: Duration, limit: Int) -> [any PendingWork] {
        let due = entries.indices.filter { entries[$0].isInTurn == inTurn && entries[$0].notBefore <= uptime }.prefix(limit)
        let works = due.map { entries[$0].work }
        for index in due.reversed() { entries.remove(at: index) }
        return works
    }

    /// Removes and returns all work.
    mutating func takeAll() -> [any PendingWork] {
        defer { entries = [] }
        return entries.map(\.work)
    }
}

/// Whether the writes of a connection begin in their turn: for a while after conflicts they do.
///
/// Otherwise each group would run into the same conflicts again, also with groups that wait for their turn. If all writers take turns,
/// none conflict.
struct WriteLockPreference: Hashable {
    /// How many groups of writes after the last conflict.
    static let length = 8
    /// How many groups of writes after a commit that found another transaction urgent. In its first turn such a group may come before
    /// that transaction, in its second it cannot.
    static let lengthForOthers = 2

    private var left = 0

    /// Writes of this connection conflicted with others more than once.
    mutating func hadConflicts() { left = Self.length }

    /// A writer that takes turns conflicted with one that does not, perhaps with this connection.
    mutating func foundOtherUrgent() { left = max(left, Self.lengthForOthers) }

    /// There are no turns, or a turn did not come in time: writes without a conflict do not wait for one.
    mutating func forget() { left = 0 }

    /// Whether the next group begins in its turn; counts it.
    mutating func next() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
