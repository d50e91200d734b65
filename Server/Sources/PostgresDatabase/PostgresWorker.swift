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

    /// Tries again what is due of the blocked work: reads one by one, so that others have their turn in between.
    private func tryBlocked() -> Bool {
        let now = context.link.clock.uptime
        for (work, fault) in blocked.takeExpired(at: now) { giveUp(work, fault) }
        let due = blocked.takeDue(at: now, limit: writes ? context.link.limits.batch : 1)
        // One lock is known to be held: nobody waits for the next one for long.
        if !due.isEmpty { perform(due, knowsOfLocks: true) }
        return !due.isEmpty
    }

    /// Puts aside work that a lock is in the way of and that has written nothing, or answers it when its time is over.
    func block(_ work: any PendingWork, _ fault: PostgresFault) {
        let isKept = blocked.add(work, fault.fault, at: context.link.clock.uptime)
        if !isKept { giveUp(work, fault.fault) }
    }

    private func giveUp(_ work: any PendingWork, _ fault: SQLFault) {
        if writes { context.health.failed(fault) }
        work.fail(fault)
    }

    private func perform(_ works: [any PendingWork], knowsOfLocks: Bool) {
        if writes {
            WriteGroup(worker: self, knowsOfLocks: knowsOfLocks).run(works)
        } else {
            let run = ReadRun(worker: self, knowsOfLocks: knowsOfLocks)
            works.forEach(run.run)
        }
    }

    /// How long a transaction waits for a lock.
    func patience(knowsOfLocks: Bool) -> Duration {
        let limits = context.link.limits
        return knowsOfLocks || !blocked.isEmpty ? limits.shortPatience : limits.patience
    }

    private func work(_ works: [any PendingWork]) {
        let oldest = context.link.clock.uptime - context.link.limits.queue
        for late in works where late.since < oldest {
            late.fail(SQLFault.unavailable(reason: "too_many_connections: no connection was free in time"))
        }
        let works = works.filter { $0.since >= oldest }
        if !works.isEmpty { perform(works, knowsOfLocks: !blocked.isEmpty) }
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
        Thread.sleep(forTimeInterval: duration / .seconds(1))
    }

    /// Whether statements are sent with their text each time, because a pooler loses them.
    var sendsTexts: Bool { context.door.sendsTexts }

    func note(_ fault: PostgresFault) {
        if fault.kind == .statementsLost { context.door.statementsAreLost() }
    }
}
