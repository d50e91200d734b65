import NIOCore

/// Pushes that wait for a connection, in two lanes, each bounded. Those that are sent again go to the front of theirs.
///
/// A class, because a connection takes from it while writing, and writing may report back before it returns.
final class PushQueue {
    /// The most pushes of one lane: a full batch lane leaves room for the express one.
    let limit: Int
    private var lanes = PushLanes()

    init(limit: Int) { self.limit = limit }

    var count: Int { lanes.count }
    var isEmpty: Bool { lanes.isEmpty }
    /// The push that is next.
    var first: PushTicket? { lanes.first }
    /// When the push that waits longest was handed over; `nil` when nothing waits.
    var waitingSince: NIODeadline? { lanes.waitingSince }

    func hasRoom(in lane: APNsSendLane) -> Bool { lanes.count(lane) < limit }

    /// Appends a ticket; `false` when its lane is full.
    func append(_ ticket: PushTicket) -> Bool {
        guard lanes.count(ticket.submission.lane) < limit else { return false }
        lanes.append(ticket)
        return true
    }

    /// Puts tickets that were not processed before all others of their lane, in their order. They are not refused: their
    /// number is bounded by the streams they come from.
    func prepend(_ returned: [PushTicket]) {
        for ticket in returned.reversed() { lanes.prepend(ticket) }
    }

    /// Makes the push next that is most likely to be accepted. Looks at the first few only, since one will do.
    func bringLikeliestToFront(among reach: Int = 64) { lanes.bringLikeliestToFront(among: reach) }

    /// The size of the body that is next; `nil` when nothing waits.
    var firstBodySize: Int? { lanes.first?.bodySize }

    /// The next one, if the size of its body satisfies the condition.
    func popFirst(where condition: (Int) -> Bool) -> PushTicket? { lanes.popFirst(where: condition) }

    /// Takes out the tickets that satisfy the condition.
    func removeAll(where condition: (PushTicket) -> Bool) -> [PushTicket] { lanes.removeAll(where: condition) }

    func forEach(_ body: (PushTicket) -> Void) { lanes.forEach(body) }
}
