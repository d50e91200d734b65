import NIOCore

/// Pushes that wait for a connection, bounded. Those that are sent again go to the front.
///
/// A class, because a connection takes from it while writing, and writing may report back before it returns.
final class PushQueue {
    let limit: Int
    private var tickets: CircularBuffer<PushTicket> = []

    init(limit: Int) { self.limit = limit }

    var count: Int { tickets.count }
    var isEmpty: Bool { tickets.isEmpty }
    var first: PushTicket? { tickets.first }
    /// When the push that is next was handed over; `nil` when nothing waits.
    var waitingSince: NIODeadline? { tickets.first?.submission.start }

    /// Appends a ticket; `false` when the queue is full.
    func append(_ ticket: PushTicket) -> Bool {
        guard tickets.count < limit else { return false }
        tickets.append(ticket)
        return true
    }

    /// Puts tickets that were not processed before all others, in their order. They are not refused: their number is
    /// bounded by the streams they come from.
    func prepend(_ returned: [PushTicket]) {
        for ticket in returned.reversed() { tickets.prepend(ticket) }
    }

    /// Moves the push that is most likely to be accepted to the front. Looks at the next few only, since one will do.
    func bringLikeliestToFront(among reach: Int = 64) {
        guard let first = tickets.first, first.push.standing != .proven else { return }
        var best = tickets.startIndex
        for index in tickets.indices.prefix(reach) where tickets[index].push.standing > tickets[best].push.standing {
            best = index
        }
        guard best != tickets.startIndex else { return }
        let ticket = tickets.remove(at: best)
        tickets.prepend(ticket)
    }

    func removeFirst() { tickets.removeFirst() }

    /// The size of the body that is next; `nil` when nothing waits.
    var firstBodySize: Int? { tickets.first?.bodySize }

    func popFirst() -> PushTicket? { tickets.popFirst() }

    /// Takes out the tickets that satisfy the condition.
    func removeAll(where condition: (PushTicket) -> Bool) -> [PushTicket] {
        guard !tickets.isEmpty else { return [] }
        var removed: [PushTicket] = []
        var kept: CircularBuffer<PushTicket> = []
        for ticket in tickets {
            if condition(ticket) { removed.append(ticket) } else { kept.append(ticket) }
        }
        if !removed.isEmpty { tickets = kept }
        return removed
    }

    func forEach(_ body: (PushTicket) -> Void) { tickets.forEach(body) }
}
