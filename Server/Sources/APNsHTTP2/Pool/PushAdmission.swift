import NIOCore

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

    /// Moves what fits into the queue, and tells the size of each body.
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
