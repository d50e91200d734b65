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
    private var open: PostgresLink?

    init(_ context: Context) { self.context = context }

    /// Takes work until the queue ends, then closes the connection.
    static func start(named name: String, _ queue: WorkQueue<any PendingWork>, _ context: Context, writes: Bool) {
        let thread = Thread {
            let worker = PostgresWorker(context)
            while let works = queue.take({ writes ? batch($0, context.link.limits.batch) : 1 }) {
                worker.work(works, writes: writes)
            }
            worker.open?.close()
        }
        thread.name = name
        thread.start()
    }

    /// What has to run alone shares nothing.
    private static func batch(_ waiting: [any PendingWork], _ limit: Int) -> Int {
        waiting.prefix(limit).firstIndex { $0.isAlone } ?? min(waiting.count, limit)
    }

    private func work(_ works: [any PendingWork], writes: Bool) {
        let oldest = context.link.clock.uptime - context.link.limits.queue
        for late in works where late.since < oldest {
            late.fail(SQLFault.unavailable(reason: "too_many_connections: no connection was free in time"))
        }
        let works = works.filter { $0.since >= oldest }
        if writes, !works.isEmpty { WriteGroup(worker: self).run(works) } else { works.forEach(ReadRun(worker: self).run) }
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
