import APNsProtocol
import NIOCore
import RichPushModel
import Testing

@testable import APNsHTTP2

/// What users of other clients complain of (Reference/APNs.md#8), as promises about connections and streams. The numbers are
/// those of that section; Documentation/APNsComplaints.md lists them all.
@Suite("Complaints about connections and streams")
struct ConnectionComplaintTests {
    @Test("complaint 1: a request that is never answered ends, and the client goes on")
    func neverAnswered() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink(streamLimit: 2)
        let stuck = rig.submit(2)
        let queued = rig.submit(1)
        // Not even PING is answered: the connection is dead after its probe, long before the deadline.
        rig.advance(.seconds(19))
        #expect(stuck.outcomeList == Array(repeating: .unknown(.connectionClosed), count: 2))
        #expect(!link.channel.isActive)
        let next = try #require(rig.links.last)
        try next.say(.streamLimit(2))
        try next.say(.success(1))
        #expect(queued.outcome(0)?.isAccepted == true)
    }

    @Test("complaint 1: a connection that answers PING and no request gets none any more, and may still answer what it has")
    func wedged() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let stuck = rig.submit(1)
        for probe in 1...2 {
            rig.advance(.seconds(10))
            try link.say(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, UInt8(probe)]))
        }
        let next = rig.submit(1)
        #expect(rig.links.count == 2)
        let other = try #require(rig.links.last)
        try other.say(.streamLimit(1))
        try other.say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
        #expect(stuck.outcome(0) == nil)
        try link.say(.success(3))
        #expect(stuck.outcome(0)?.isAccepted == true)
        #expect(!link.channel.isActive)
    }

    @Test("complaint 1: a connection that allows no stream, or gives no credit back, does not keep pushes waiting forever")
    func unfit() throws {
        let strict = try PoolRig(limits: APNsClientLimits(connections: 1))
        let first = strict.submit([Pushes.push()], deadline: .minutes(5))
        let closed = try #require(strict.links.last)
        try closed.say(.streamLimit(0))
        for _ in 0..<31 where strict.links.count == 1 { strict.advance(.seconds(1)) }
        #expect(strict.links.count == 2)
        #expect(!closed.channel.isActive)
        try strict.links[1].say(.streamLimit(1000))
        try strict.links[1].say(.success(1))
        #expect(first.outcome(0)?.isAccepted == true)
        // The answers come, the credit does not.
        let rig = try PoolRig()
        let other = try rig.warmLink()
        let large = rig.submit([Pushes.push(size: 65_515)], deadline: .minutes(5))
        try other.say(.success(3))
        #expect(large.outcome(0)?.isAccepted == true)
        let next = rig.submit([Pushes.push()], deadline: .minutes(5))
        rig.advance(.seconds(1))
        #expect(rig.links.count == 2)
        let last = try #require(rig.links.last)
        try last.say(.streamLimit(1))
        try last.say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
        rig.advance(.seconds(31))
        #expect(!other.channel.isActive)
        #expect(last.channel.isActive)
    }

    @Test("complaint 1: requests whose callers gave up say nothing about a connection")
    func cancelled() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let group = (0..<500).map { _ in rig.submit(1) }
        for submission in group { rig.pool.cancel(submission) }
        rig.advance(.minutes(1))
        #expect(group.allSatisfy { $0.outcome(0) == .unknown(.cancelled) })
        #expect(link.channel.isActive)
        _ = rig.submit(1)
        #expect(rig.links.count == 1)
    }

    @Test("complaint 2: there is a deadline without asking for one, also for what was sent")
    func deadlineOnTheWire() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        for probe in 1...3 {
            rig.advance(.seconds(10))
            try link.say(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, UInt8(probe)]))
        }
        #expect(submission.outcome(0) == .unknown(.deadline))
    }

    @Test("complaint 7: before the first SETTINGS nothing is sent, and then one request until it is answered")
    func startsWithOne() throws {
        let rig = try PoolRig()
        _ = rig.submit(500)
        let link = rig.links[0]
        try link.exchange()
        #expect(link.server.requests.isEmpty)
        // Even a server that allows more at once gets one.
        try link.say(.streamLimit(1000))
        try link.exchange()
        #expect(link.server.takeRequests().count == 1)
        try link.say(.success(1))
        try link.exchange()
        #expect(link.server.requests.count == 499)
    }

    @Test("complaint 7: a reset is no answer to the first request", arguments: [HTTP2ErrorCode.internalError, .cancel])
    func resetWhileWarming(code: HTTP2ErrorCode) throws {
        let rig = try PoolRig()
        let submission = rig.submit(50)
        let link = rig.links[0]
        try link.say(.streamLimit(1000))
        for stream in [UInt32(1), 3] {
            try link.say(.reset(stream, code))
            try link.exchange()
        }
        // One at a time, each after the end of the one before.
        #expect(link.server.takeRequests().map(\.stream) == [1, 3, 5])
        #expect(submission.outcomeList.count { $0 == .unknown(.streamReset) } == 2)
        try link.say(.success(5))
        try link.exchange()
        #expect(link.server.requests.count == 47)
    }

    @Test("complaint 8: the server's limit is read again each time, and every end gives its stream back")
    func exactStreams() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink(streamLimit: 4)
        _ = rig.submit(100)
        var open: [UInt32] = []
        for (limit, round) in zip([4, 2, 7, 1, 3], 0...) {
            try link.say(.streamLimit(UInt32(limit)))
            for _ in 0..<12 {
                try link.exchange()
                open += link.server.takeRequests().map(\.stream)
                #expect(rig.metrics.inFlight == open.count)
                guard let stream = open.first else { break }
                let before = open.count
                open.removeFirst()
                switch round {
                case 0: try link.say(.success(stream))
                case 1: try link.say(.refusal(stream, 410, "Unregistered"))
                case 2: try link.say(.reset(stream, .internalError))
                default: try link.say(.frame(0x1, flags: 0x5, stream: stream, [0x20]))
                }
                try link.exchange()
                open += link.server.takeRequests().map(\.stream)
                #expect(open.count <= max(limit, before - 1))
            }
            #expect(open.count <= 7)
        }
    }

    @Test("complaint 10: streams that are caught by a lowered limit are sent again once, however often they are reset")
    func resetTwice() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(3)
        try link.exchange()
        _ = link.server.takeRequests()
        try link.say(
            .streamLimit(1), .reset(5, .refusedStream), .reset(5, .streamClosed), .reset(7, .refusedStream),
            .reset(7, .streamClosed), .success(3))
        try link.exchange()
        let first = link.server.takeRequests()
        #expect(first.map(\.stream) == [9])
        try link.say(.success(9), .streamLimit(1000))
        try link.exchange()
        #expect(link.server.takeRequests().map(\.stream) == [11])
        try link.say(.success(11))
        #expect(submission.outcomeList.allSatisfy { $0?.isAccepted == true })
        #expect(rig.metrics.resends == 2)
    }

    @Test("complaint 14: a connection that was silent is probed together with its next request, and replaced when it is dead")
    func silentlyDropped() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        rig.advance(.minutes(10))
        let submission = rig.submit(1)
        try link.exchange()
        #expect(link.server.takeFrames() == [.ping(1)])
        rig.advance(.seconds(9))
        #expect(!link.channel.isActive)
        #expect(submission.outcome(0) == .unknown(.connectionClosed))
        let next = rig.submit(1)
        let replacement = try #require(rig.links.dropFirst().last)
        try replacement.say(.streamLimit(1))
        try replacement.say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
    }

    @Test("complaint 15: what is not used is closed, and there are never more connections than allowed")
    func idleAndMaximum() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 2))
        let link = try rig.warmLink(streamLimit: 1)
        link.hasSpoken = true
        _ = rig.submit(1000)
        // Every connection proves useful and takes one push at a time: there is always a reason for one more.
        for _ in 0..<50 {
            rig.advance(.milliseconds(200))
            for link in rig.links {
                if !link.hasSpoken { try link.say(.streamLimit(1)) }
                link.hasSpoken = true
                try link.exchange()
                for request in link.server.takeRequests() { try link.say(.success(request.stream)) }
            }
        }
        #expect(rig.links.count == 2)
        #expect(rig.links.allSatisfy { $0.channel.isActive })
        let idle = try PoolRig()
        let resting = try idle.warmLink()
        idle.advance(.minutes(16))
        #expect(!resting.channel.isActive)
        #expect(idle.metrics.connections == 0)
    }

    @Test("complaint 18: large bodies do not wait for credit while another connection could carry them")
    func windowLimited() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 4))
        let first = try rig.warmLink()
        first.hasSpoken = true
        // Four windows of 65,535 bytes hold 64 of them; credit never comes.
        let submission = rig.submit(60, size: 3900)
        var written = 0
        for _ in 0..<50 {
            rig.advance(.milliseconds(100))
            for link in rig.links {
                if !link.hasSpoken { try link.say(.streamLimit(1000)) }
                try link.exchange()
                let requests = link.server.takeRequests()
                #expect(requests.allSatisfy { $0.isComplete })
                written += requests.count
                // The first answer ends the warm-up, and there is no other.
                if let stream = requests.first?.stream, !link.hasSpoken {
                    link.hasSpoken = true
                    try link.say(.success(stream))
                }
            }
        }
        #expect(rig.links.count == 4)
        #expect(written == 60)
        #expect(submission.outcomeList.count { $0?.isAccepted == true } == 3)
    }

    @Test("complaint 24: a client that could not connect for long goes on soon after APNs is reachable")
    func recovers() throws {
        let rig = try PoolRig()
        rig.isReachable = false
        let lost = rig.submit([Pushes.push()], deadline: .minutes(30))
        rig.advance(.minutes(31))
        #expect(lost.outcome(0) == .notSent(.unreachable))
        rig.isReachable = true
        let next = rig.submit([Pushes.push()], deadline: .minutes(3))
        for _ in 0..<61 where rig.links.isEmpty { rig.advance(.seconds(1)) }
        let link = try #require(rig.links.last)
        try link.say(.streamLimit(1))
        try link.say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
    }

    @Test("complaint 21: no limit can be set so that nothing ever moves")
    func impossibleLimits() throws {
        let limits = APNsClientLimits(connections: 0, streamsPerConnection: 0, queuedPushes: -5, resends: -1)
        #expect(limits.connections == 1)
        #expect(limits.streamsPerConnection == 1)
        #expect(limits.queuedPushes == 1)
        #expect(limits.resends == 0)
        let rig = try PoolRig(limits: limits)
        _ = try rig.warmLink()
        #expect(rig.metrics.accepted == 1)
    }

    @Test("complaint 22: retry-after is read, and nothing is tried again at once")
    func retryAfter() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(3)
        let block = ByteBuffer.headerBlock(status: 429) + [0x00, 0x0B] + Array("retry-after".utf8) + [2] + Array("17".utf8)
        try link.say(.frame(0x1, flags: 0x5, stream: 3, block), .refusal(5, 500, "InternalServerError"))
        try link.say(.refusal(7, 429, "TooManyProviderTokenUpdates"))
        guard case .rejected(let rejection) = submission.outcome(0) else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.retryAfter == 17)
        #expect(rejection.disposition == .later)
        #expect(submission.isComplete)
        #expect(rig.metrics.resends == 0)
    }

    @Test("complaint 22: retry-after is read as a date too, with the date of the answer")
    func retryAfterDate() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        func field(_ name: String, _ value: String) -> [UInt8] {
            [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        let block =
            ByteBuffer.headerBlock(status: 503) + field("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")
            + field("date", "Sun, 06 Nov 1994 08:49:37 GMT")
        try link.say(.frame(0x1, flags: 0x5, stream: 3, block))
        guard case .rejected(let rejection) = submission.outcome(0) else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.retryAfter == nil)
        #expect(rejection.pause(at: Timestamp(seconds: 0)) == .seconds(30))
    }
}
