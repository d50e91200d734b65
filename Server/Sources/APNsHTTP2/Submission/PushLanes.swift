import NIOCore

/// The order in which waiting pushes leave: express before bulk, and in order within a lane, but of any eight that leave one is
/// bulk while one waits, so that neither lane keeps the other waiting for ever.
struct PushLanes {
    /// So many express pushes may pass a bulk push that waits.
    static let expressRun = 7

    private var express: CircularBuffer<PushTicket> = []
    private var bulk: CircularBuffer<PushTicket> = []
    /// Express pushes that passed the bulk push that is first.
    private var run = 0

    var count: Int { express.count + bulk.count }
    var isEmpty: Bool { express.isEmpty && bulk.isEmpty }

    private var next: APNsSendLane {
        if express.isEmpty { return .bulk }
        return bulk.isEmpty || run < Self.expressRun ? .express : .bulk
    }

    var first: PushTicket? { next == .express ? express.first : bulk.first }

    var waitingSince: NIODeadline? {
        guard let express = express.first?.submission.start else { return bulk.first?.submission.start }
        return bulk.first.map { min($0.submission.start, express) } ?? express
    }

    func count(_ lane: APNsSendLane) -> Int { lane == .express ? express.count : bulk.count }

    mutating func append(_ ticket: PushTicket) {
        if ticket.submission.lane == .express { express.append(ticket) } else { bulk.append(ticket) }
    }

    mutating func prepend(_ ticket: PushTicket) {
        if ticket.submission.lane == .express { express.prepend(ticket) } else { bulk.prepend(ticket) }
    }

    /// The next one, if the size of its body satisfies the condition. Takes it out to look at it, because to look at it in its
    /// place is to count references twice.
    mutating func popFirst(where condition: (Int) -> Bool) -> PushTicket? {
        if next == .bulk {
            guard let ticket = Self.popFirst(of: &bulk, where: condition) else { return nil }
            run = 0
            return ticket
        }
        guard let ticket = Self.popFirst(of: &express, where: condition) else { return nil }
        run = bulk.isEmpty ? 0 : run + 1
        return ticket
    }

    @inline(__always)
    private static func popFirst(
        of lane: inout CircularBuffer<PushTicket>, where condition: (Int) -> Bool
    ) -> PushTicket? {
        guard let ticket = lane.popFirst() else { return nil }
        if condition(ticket.bodySize) { return ticket }
        lane.prepend(ticket)
        return nil
    }

    /// Makes the likeliest of the first `reach` of each lane the next one, whatever its lane.
    mutating func bringLikeliestToFront(among reach: Int) {
        guard let first, first.push.standing != .proven else { return }
        var best = (lane: next, index: 0)
        var standing = first.push.standing
        func look(at lane: APNsSendLane, _ tickets: CircularBuffer<PushTicket>) {
            for (index, ticket) in tickets.prefix(reach).enumerated() where ticket.push.standing > standing {
                best = (lane, index)
                standing = ticket.push.standing
            }
        }
        look(at: .express, express)
        look(at: .bulk, bulk)
        guard standing > first.push.standing else { return }
        let ticket = best.lane == .express ? Self.take(best.index, from: &express) : Self.take(best.index, from: &bulk)
        if next == .express { express.prepend(ticket) } else { bulk.prepend(ticket) }
    }

    private static func take(_ offset: Int, from lane: inout CircularBuffer<PushTicket>) -> PushTicket {
        lane.remove(at: lane.index(lane.startIndex, offsetBy: offset))
    }

    mutating func removeAll(where condition: (PushTicket) -> Bool) -> [PushTicket] {
        Self.removeAll(from: &express, where: condition) + Self.removeAll(from: &bulk, where: condition)
    }

    private static func removeAll(
        from lane: inout CircularBuffer<PushTicket>, where condition: (PushTicket) -> Bool
    ) -> [PushTicket] {
        let removed = Array(lane.lazy.filter(condition))
        if !removed.isEmpty { lane.removeAll(where: condition) }
        return removed
    }

    func forEach(_ body: (PushTicket) -> Void) {
        express.forEach(body)
        bulk.forEach(body)
    }
}
