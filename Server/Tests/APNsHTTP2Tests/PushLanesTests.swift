import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("The two lanes before the connections")
struct PushLanesTests {
    private func tickets(_ count: Int, _ lane: APNsSendLane, _ standing: APNsPush.Standing = .ordinary) -> [PushTicket] {
        let pushes = (0..<count).map { _ in
            var push = Pushes.push()
            push.standing = standing
            return push
        }
        let submission = PushSubmission(
            pushes: pushes, outcomes: pushes.map { _ in nil }, lane: lane, timeLimit: .minutes(1))
        return pushes.indices.map { PushTicket(submission: submission, index: Int32($0)) }
    }

    /// What leaves, in order: the first letter of the lane and the number of the push.
    private func drain(_ queue: PushQueue, _ count: Int = .max) -> [String] {
        var left: [String] = []
        while left.count < count, let ticket = queue.popFirst(where: { _ in true }) {
            left.append((ticket.submission.lane == .express ? "e" : "b") + "\(ticket.index)")
        }
        return left
    }

    private func queue(_ tickets: [PushTicket], limit: Int = 1000) -> PushQueue {
        let queue = PushQueue(limit: limit)
        for ticket in tickets { #expect(queue.append(ticket)) }
        return queue
    }

    @Test("a single push overtakes all that wait of a batch, which keeps its order")
    func overtakes() {
        let queue = queue(tickets(5, .bulk))
        #expect(drain(queue, 2) == ["b0", "b1"])
        #expect(queue.append(tickets(1, .express)[0]))
        #expect(queue.first?.submission.lane == .express)
        #expect(drain(queue) == ["e0", "b2", "b3", "b4"])
    }

    @Test("of eight that leave one is of a batch, however many single ones there are")
    func noStarvation() {
        let left = drain(queue(tickets(3, .bulk) + tickets(30, .express)))
        let places = left.indices.filter { left[$0].hasPrefix("b") }
        #expect(places == [7, 15, 23])
        #expect(left.filter { $0.hasPrefix("e") } == (0..<30).map { "e\($0)" })
        #expect(left.filter { $0.hasPrefix("b") } == ["b0", "b1", "b2"])
    }

    @Test("what went express while no batch waited does not count against the next express push")
    func runBegins() {
        let queue = queue(tickets(20, .express))
        #expect(drain(queue, 20).count == 20)
        for ticket in tickets(2, .bulk) + tickets(1, .express) { #expect(queue.append(ticket)) }
        #expect(drain(queue) == ["e0", "b0", "b1"])
    }

    @Test("a push that is sent again goes to the front of its own lane")
    func returned() {
        let bulk = tickets(4, .bulk)
        let express = tickets(2, .express)
        let queue = queue([bulk[2], bulk[3], express[1]])
        queue.prepend([bulk[0], express[0], bulk[1]])
        #expect(drain(queue) == ["e0", "e1", "b0", "b1", "b2", "b3"])
    }

    @Test("a lane that is full leaves the other one open")
    func bounds() {
        let queue = queue(tickets(3, .bulk), limit: 3)
        #expect(!queue.append(tickets(1, .bulk)[0]))
        for ticket in tickets(3, .express) { #expect(queue.append(ticket)) }
        #expect(!queue.append(tickets(1, .express)[0]))
        #expect(queue.count == 6)
    }

    @Test("the likeliest success goes first, whichever lane it is in", arguments: [APNsSendLane.express, .bulk])
    func likeliest(lane: APNsSendLane) {
        let queue = queue(tickets(2, .express) + tickets(2, .bulk) + tickets(1, lane, .proven))
        queue.bringLikeliestToFront()
        #expect(queue.first?.push.standing == .proven)
        let left = drain(queue)
        #expect(left.count == 5)
        #expect(left.filter { $0 == "b1" }.count == 1)
    }

    @Test("what is taken out leaves the others of both lanes in their order")
    func removal() {
        let queue = queue(tickets(4, .bulk) + tickets(4, .express))
        let removed = queue.removeAll { $0.index.isMultiple(of: 2) }
        #expect(removed.count == 4)
        #expect(drain(queue) == ["e1", "e3", "b1", "b3"])
    }

    @Test("a push alone is the next request on the wire though a thousand wait before it")
    func onTheWire() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink(streamLimit: 4)
        let batch = rig.submit(1000)
        try link.exchange()
        #expect(link.server.takeRequests().count == 4)
        let alone = rig.submit(1, lane: .express)
        try link.say(.success(3))
        try link.exchange()
        #expect(link.server.takeRequests().map(\.stream) == [11])
        try link.say(.success(11))
        #expect(alone.outcome(0)?.isAccepted == true)
        #expect(batch.outcomeList.count { $0 != nil } == 1)
    }
}
