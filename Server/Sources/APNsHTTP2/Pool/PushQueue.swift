import NIOCore

/// Which of a client's pushes go first when more wait than the connections take.
public enum APNsSendLane: Sendable, Hashable, CaseIterable {
    /// A few pushes that a caller waits for: they overtake waiting bulk pushes. Single pushes always use this lane.
    case express
    /// Many pushes: as fast as possible, behind the express ones. One of every eight pushes is bulk whatever else waits.
    case bulk
}

/// Pushes that wait for a connection, in two lanes, each bounded: express before bulk, and in order within a lane. Of any eight that
/// leave one is bulk while one waits, so that neither lane starves the other. Those that are sent again go to the front of theirs.
///
/// A class, because a connection takes from it while writing, and writing may report back before it returns.
final class PushQueue {
    /// So many express pushes may pass a bulk push that waits.
    private static let expressRun = 7

    /// The most pushes of one lane: a full batch lane leaves room for the express one.
    let limit: Int
    private var express: CircularBuffer<PushTicket> = []
    private var bulk: CircularBuffer<PushTicket> = []
    /// Express pushes that passed the bulk push that is first.
    private var run = 0

    init(limit: Int) { self.limit = limit }

    var count: Int { express.count + bulk.count }
    var isEmpty: Bool { express.isEmpty && bulk.isEmpty }

    /// The lane that is next.
    private var next: APNsSendLane {
        if express.isEmpty { return .bulk }
        return bulk.isEmpty || run < Self.expressRun ? .express : .bulk
    }

    /// The push that is next.
    var first: PushTicket? { next == .express ? express.first : bulk.first }

    /// The size of the body that is next; `nil` when nothing waits.
    var firstBodySize: Int? { first?.bodySize }

    /// When the push that waits longest was handed over; `nil` when nothing waits.
    var waitingSince: NIODeadline? {
        guard let express = express.first?.submission.start else { return bulk.first?.submission.start }
        return bulk.first.map { min($0.submission.start, express) } ?? express
    }

    func hasRoom(in lane: APNsSendLane) -> Bool { (lane == .express ? express.count : bulk.count) < limit }

    /// Appends a ticket; `false` when its lane is full.
    func append(_ ticket: PushTicket) -> Bool {
        guard hasRoom(in: ticket.submission.lane) else { return false }
        if ticket.submission.lane == .express { express.append(ticket) } else { bulk.append(ticket) }
        return true
    }

    /// Puts tickets that were not processed before all others of their lane, in their order. They are not refused: their
    /// number is bounded by the streams they come from.
    func prepend(_ returned: [PushTicket]) {
        for ticket in returned.reversed() {
            if ticket.submission.lane == .express { express.prepend(ticket) } else { bulk.prepend(ticket) }
        }
    }

    /// The next one, if the size of its body satisfies the condition. Takes it out for the check, because reading it in place
    /// counts references twice.
    func popFirst(where condition: (Int) -> Bool) -> PushTicket? {
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

    /// Makes the push next that is most likely to be accepted, whatever its lane. Looks at the first few only, since one will do.
    func bringLikeliestToFront(among reach: Int = 64) {
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

    /// Takes out the tickets that satisfy the condition.
    func removeAll(where condition: (PushTicket) -> Bool) -> [PushTicket] {
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

/// Batches whose pushes do not all fit into the queue. They enter as it drains, and their callers wait: that is the client's
/// back-pressure. What waits here costs one entry for each call, because the pushes stay where their caller has them.
struct PushAdmission {
    private struct Part {
        let submission: PushSubmission
        /// The first push that is not queued.
        var next = 0
    }

    /// The most calls of one lane.
    let limit: Int
    private var express: CircularBuffer<Part> = []
    private var bulk: CircularBuffer<Part> = []

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { express.isEmpty && bulk.isEmpty }

    /// Takes a call, behind those of its lane that wait; `false` when too many do.
    mutating func append(_ submission: PushSubmission) -> Bool {
        if submission.lane == .express {
            guard express.count < limit else { return false }
            express.append(Part(submission: submission))
        } else {
            guard bulk.count < limit else { return false }
            bulk.append(Part(submission: submission))
        }
        return true
    }

    /// Moves what fits into the queue, and passes the size of each body to `admitted`.
    mutating func fill(_ queue: PushQueue, admitted: (Int) -> Void) {
        Self.fill(queue, from: &express, admitted)
        Self.fill(queue, from: &bulk, admitted)
    }

    private static func fill(_ queue: PushQueue, from lane: inout CircularBuffer<Part>, _ admitted: (Int) -> Void) {
        while var part = lane.popFirst() {
            let end = part.submission.pushes.count
            while part.next < end {
                if !part.submission.isDecided(part.next) {
                    let ticket = PushTicket(submission: part.submission, index: Int32(part.next))
                    guard queue.append(ticket) else { return lane.prepend(part) }
                    admitted(ticket.bodySize)
                }
                part.next += 1
            }
        }
    }

    /// Whether something waits for which the queue has room.
    func canFill(_ queue: PushQueue) -> Bool {
        (!express.isEmpty && queue.hasRoom(in: .express)) || (!bulk.isEmpty && queue.hasRoom(in: .bulk))
    }

    /// Takes out the calls whose pushes satisfy the condition, and returns those pushes that are not queued.
    mutating func removeAll(where condition: (PushTicket) -> Bool) -> [PushTicket] {
        guard !isEmpty else { return [] }
        return Self.removeAll(from: &express, where: condition) + Self.removeAll(from: &bulk, where: condition)
    }

    private static func removeAll(
        from lane: inout CircularBuffer<Part>, where condition: (PushTicket) -> Bool
    ) -> [PushTicket] {
        var removed: [PushTicket] = []
        lane.removeAll { part in
            // Its deadline and whether it was cancelled are the same for all pushes of a call.
            guard condition(PushTicket(submission: part.submission, index: Int32(part.next))) else { return false }
            for index in part.next..<part.submission.pushes.count where !part.submission.isDecided(index) {
                removed.append(PushTicket(submission: part.submission, index: Int32(index)))
            }
            return true
        }
        return removed
    }

    /// When the first of the calls ends; the distant future when none waits.
    var earliestDeadline: NIODeadline {
        (express.map(\.submission.deadline) + bulk.map(\.submission.deadline)).min() ?? .distantFuture
    }
}
