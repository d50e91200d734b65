import Foundation
import Logging
import SQLStorage
import Synchronization

/// A thread with a connection of its own, which it opens when there is work and none is open.
final class PostgresWorker {
    /// What the workers of a database share.
    struct Context: Sendable {
        var link: PostgresLink.Context
        var texts: TransactionText
        var health: WriteHealth
        var door: ServerDoor
    }

    let context: Context
    private let writes: Bool
    private var open: PostgresLink?
    private var blocked: BlockedWork
    /// Whether its writes begin in their turn.
    var turns = TurnHabit()
    private var nextRound = Duration.zero

    init(_ context: Context, writes: Bool) {
        self.context = context
        self.writes = writes
        blocked = BlockedWork(patience: context.link.limits.statement)
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

    /// How often it is looked for new work while some is blocked.
    private static let look = Duration.milliseconds(20)
    /// How often blocked work is tried again while that is in vain: most of the time of a worker is for what nothing is in the way of.
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

    /// Tries again some of the blocked work that is due, so that others have their turn in between. As long as it goes well the next
    /// follows at once.
    private func tryBlocked() -> Bool {
        let now = context.link.clock.uptime
        for (work, fault) in blocked.takeExpired(at: now) { giveUp(work, fault) }
        let inTurn = blocked.takeDueInTurn(at: now, limit: context.link.limits.batch)
        if !inTurn.isEmpty {
            WriteGroup(worker: self, knowsOfLocks: false, turn: context.link.limits.patience, keepsAsking: true).run(inTurn)
            return true
        }
        guard now >= nextRound else { return false }
        let due = blocked.takeDue(at: now, limit: writes ? Self.writesOfRound : 1)
        guard !due.isEmpty else { return false }
        let others = blocked.count
        // One lock is known to be held: nobody waits for the next one for long.
        perform(due, knowsOfLocks: true)
        if blocked.count > others { nextRound = context.link.clock.uptime + Self.round }
        return true
    }

    /// Puts aside work that a lock is in the way of and that has written nothing, or answers it when its time is over.
    ///
    /// With `inTurn` it was not begun, since its turn did not come, and asks for it again.
    func block(_ work: any PendingWork, _ fault: PostgresFault, inTurn: Bool) {
        let isKept = blocked.add(work, fault.fault, inTurn: inTurn, at: context.link.clock.uptime)
        if !isKept { giveUp(work, fault.fault) }
    }

    private func giveUp(_ work: any PendingWork, _ fault: SQLFault) {
        // Somebody's lock says nothing of whether the database takes writes.
        work.fail(fault)
    }

    private func perform(_ works: [any PendingWork], knowsOfLocks: Bool) {
        if writes {
            let turn = turns.next() ? context.link.limits.turnPatience : nil
            WriteGroup(worker: self, knowsOfLocks: knowsOfLocks, turn: turn).run(works)
        } else {
            let run = ReadRun(worker: self, knowsOfLocks: knowsOfLocks)
            works.forEach(run.run)
        }
    }

    /// How long a transaction waits for a lock.
    func patience(knowsOfLocks: Bool) -> Duration {
        let limits = context.link.limits
        guard knowsOfLocks || blocked.knowsOfLocks else { return limits.patience }
        // Writes wait for each other's rows, reads for nothing but such a lock.
        return writes ? limits.shortPatience : limits.noPatience
    }

    private func work(_ works: [any PendingWork]) {
        let oldest = context.link.clock.uptime - context.link.limits.queue
        for late in works where late.since < oldest {
            late.fail(SQLFault.unavailable(reason: "too_many_connections: no connection was free in time"))
        }
        let works = works.filter { $0.since >= oldest }
        if !works.isEmpty { perform(works, knowsOfLocks: blocked.knowsOfLocks) }
    }

    /// The open connection, or a new one. Throws `PostgresFault.unreachable` while the server is away.
    func link() throws -> PostgresLink {
        if let open {
            guard open.isBroken else { return open }
            open.close()
            self.open = nil
        }
        let link = try context.door.enter(context.link)
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
    var sendsTexts: Bool { context.door.sendsTexts }

    func note(_ fault: PostgresFault) {
        if fault.kind == .statementsLost { context.door.statementsAreLost() }
    }
}
