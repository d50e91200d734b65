import PushHub
import RichPushModel
import TagExpressions
import Testing

/// What a `SliceQueue` promises.
public enum SliceQueuePromises {
    /// Every promise.
    public static let all: [StoragePromise<HubStorage>] =
        [
            leasesToOne, refusesALostLease, keepsTheCursor, smallFirst, hubsTakeTurns, platformsTakeTurns, namesPlatforms,
            keepsRoomForSmall, singleBesides, walksInOrder, skipsTwins, addsTallies,
            keepsPendingRows, takesTurns, countsBacklog,
            checksRetriesAgain, forgetsByTimestamp, endsOnce, takesOver,
        ] + checkpoints + ofPace + ofOrder + ofAudience + ofZones + ofTranslations + ofCaps

    private static let leasesToOne = StoragePromise<HubStorage>(
        "a leased slice is given to no other node until the lease expires"
    ) {
        storage in
        _ = try await storage.intake.accept(try Sample.send())
        let first = try #require(try await storage.queue.lease(Sample.lease(4)).first)
        #expect(try await storage.queue.lease(Sample.lease(4, at: Sample.time(59), owner: "b")).isEmpty)
        #expect(try await storage.queue.renew(first, until: Sample.time(100)))
        #expect(try await storage.queue.lease(Sample.lease(4, at: Sample.time(99), owner: "b")).isEmpty)
        let second = try #require(try await storage.queue.lease(Sample.lease(4, at: Sample.time(100), owner: "b")).first)
        #expect(second.id == first.id && second.epoch > first.epoch)
    }

    private static let refusesALostLease = StoragePromise<HubStorage>("a checkpoint under a lost lease changes nothing") {
        storage in
        let send = try Sample.send()
        _ = try await storage.intake.accept(send)
        let lost = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        let current = try #require(try await storage.queue.lease(Sample.lease(1, at: Sample.time(60))).first)
        for disposition in [SliceCheckpoint.Disposition.finish, .keep(until: Sample.time(99)), .release(notBefore: Sample.start)]
        {
            var checkpoint = SliceCheckpoint(lease: lost, now: Sample.time(61), disposition: disposition)
            checkpoint.tallies = [.accepted: 5]
            #expect(try await storage.queue.checkpoint(checkpoint) == .refused)
        }
        #expect(try await storage.queue.renew(lost, until: Sample.time(99)) == false)
        #expect(try await storage.queue.page(Sample.page(lost)) == nil)
        #expect(try await storage.queue.page(Sample.page(current)) != nil)
        #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(61))?.outcomes == [:])
    }

    private static let keepsTheCursor = StoragePromise<HubStorage>("a checkpoint never takes the cursor back") { storage in
        let send = try Sample.send()
        _ = try await storage.intake.accept(send)
        let old = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        var lease = old
        lease.cursor = SliceKey(7)
        var further = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        further.tallies = [.accepted: 5]
        #expect(try await storage.queue.checkpoint(further) == .stored(ended: nil))
        for disposition in [SliceCheckpoint.Disposition.keep(until: Sample.time(90)), .release(notBefore: Sample.start)] {
            var back = SliceCheckpoint(lease: old, now: Sample.start, disposition: disposition)
            back.tallies = [.accepted: 5]
            #expect(try await storage.queue.checkpoint(back) == .refused)
        }
        let next = try #require(try await storage.queue.lease(Sample.lease(1, at: Sample.time(60))).first)
        #expect(next.cursor == SliceKey(7))
        #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start)?.outcomes == [.accepted: 5])
    }

    private static let smallFirst = StoragePromise<HubStorage>("small slices go first, then the longest waiting") { storage in
        let broadcast = try Sample.send(size: 20_000)
        let late = try Sample.send(at: Sample.time(2))
        let early = try Sample.send(at: Sample.time(1))
        for send in [broadcast, late, early] { _ = try await storage.intake.accept(send) }
        let first = try await storage.queue.lease(Sample.lease(1, at: Sample.time(3)))
        #expect(first.map(\.id.notification) == [early.id])
        let rest = try await storage.queue.lease(Sample.lease(2, at: Sample.time(3)))
        #expect(rest.map(\.id.notification) == [late.id, broadcast.id])
    }

    private static let hubsTakeTurns = StoragePromise<HubStorage>("a hub with many sends does not keep another's waiting") {
        storage in
        for size in [20_000, 500, 1] {
            for _ in 0..<20 { _ = try await storage.intake.accept(try Sample.send(size: size)) }
            _ = try await storage.intake.accept(try Sample.send(hub: Sample.otherHub, size: size, at: Sample.time(9)))
        }
        // Of each kind both hubs have some, though one of them has waited longer with all of its own.
        let leases = try await storage.queue.lease(Sample.lease(6, at: Sample.time(9), large: 3, small: 3))
        for weight in SliceWeight.allCases {
            let hubs = leases.filter { $0.weight == weight }.map(\.id.hub)
            #expect(Set(hubs) == [Sample.hub, Sample.otherHub], "\(weight)")
        }
        // A hub with leased slots comes after a hub without; no slot stays free for it.
        _ = try await storage.intake.accept(try Sample.send(hub: Sample.otherHub, size: 1, at: Sample.time(9)))
        var request = Sample.lease(1, at: Sample.time(9))
        request.limit = 0
        request.held = [.single: [Sample.hub: 3]]
        #expect(try await storage.queue.lease(request).map(\.id.hub) == [Sample.otherHub])
        #expect(try await storage.queue.lease(request).map(\.id.hub) == [Sample.hub])
    }

    private static let platformsTakeTurns = StoragePromise<HubStorage>(
        "of the large slices of a hub one platform does not keep another's waiting"
    ) { storage in
        _ = try await storage.intake.accept(try toThreePlatforms())
        let first = try await storage.queue.lease(Sample.lease(3, large: 3, small: 0))
        #expect(Set(first.map(\.platform)) == [nil, .fcmv1, .browser])
        // A platform with leased slices comes after one without, though all of them have waited as long.
        var request = Sample.lease(2, large: 2, small: 0)
        request.heldPlatforms = [Sample.hub: ["": 1, Platform.fcmv1.rawValue: 3]]
        #expect(Set(try await storage.queue.lease(request).map(\.platform)) == [nil, .browser])
    }

    private static func toThreePlatforms() throws -> AcceptedSend {
        var send = try Sample.send(size: 20_000)
        let query = try #require(AudienceQuery(try TagExpression(parsing: "t"), amongAnyOf: ["u"]))
        send.others = [Platform.fcmv1, .browser].map { PlatformPart(platform: $0, query: query, slices: send.slices) }
        return send
    }

    private static let namesPlatforms = StoragePromise<HubStorage>(
        "a send says which of its push services it waits for"
    ) { storage in
        let send = try toThreePlatforms()
        _ = try await storage.intake.accept(send)
        let leases = try await storage.queue.lease(Sample.lease(3, large: 3, small: 0))
        let lease = try #require(leases.first { $0.platform == .browser })
        var back = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .release(notBefore: Sample.time(60)))
        back.wait = SendWait(.operator, reason: "r")
        _ = try await storage.queue.checkpoint(back)
        let telemetry = try #require(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start))
        #expect(telemetry.waits == [.browser: SendWait(.operator, reason: "r")])
        #expect(telemetry.wait(for: .apns) == nil)
        #expect(telemetry.wait == SendWait(.operator, reason: "r"))
    }

    private static let keepsRoomForSmall = StoragePromise<HubStorage>("limits on large slices hold") { storage in
        _ = try await storage.intake.accept(try Sample.send(size: 20_000))
        _ = try await storage.intake.accept(try Sample.send(at: Sample.time(1)))
        var request = Sample.lease(4, at: Sample.time(2), large: 2)
        let leases = try await storage.queue.lease(request)
        #expect(leases.map(\.weight).sorted() == [.small, .large, .large])
        request.limit = 1
        request.smallLimit = 0
        _ = try await storage.intake.accept(try Sample.send(at: Sample.time(1)))
        #expect(try await storage.queue.lease(request).map(\.weight) == [.large])
    }

    private static let singleBesides = StoragePromise<HubStorage>(
        "single slices are leased besides the others, up to their limit"
    ) {
        storage in
        for size in [20_000, 500, 8, 1, 0] { _ = try await storage.intake.accept(try Sample.send(size: size)) }
        var request = Sample.lease(1)
        request.singleLimit = 2
        #expect(try await storage.queue.lease(request).map(\.weight) == [.small, .single, .single])
        request.limit = 0
        #expect(try await storage.queue.lease(request).map(\.weight) == [.single])
    }

    private static let walksInOrder = StoragePromise<HubStorage>("a walk passes every match once, in order of key") { storage in
        for number in 0..<25 {
            let request = try Sample.device("d\(number)", handle: number, tags: number % 2 == 0 ? ["even", "x"] : ["odd", "y"])
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
        let late = try Sample.device("late", handle: 99, tags: ["even", "odd"])
        for (audience, count) in [("even", 13), ("!even", 12), ("even || y", 25), ("even && y", 0), ("odd || even && x", 25)] {
            _ = try await storage.intake.accept(try Sample.send(to: audience))
            _ = try await storage.devices.upsert(late, in: Sample.hub, at: Sample.start)
            var lease = try #require(try await storage.queue.lease(Sample.lease(1, at: Sample.time(5))).first)
            var passed: [SliceKey] = []
            while lease.cursor < lease.last {
                let page = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(5), limit: 4)))
                guard case .walk(let walk) = page.work else { break }
                #expect(walk.targets.count <= 4)
                passed += walk.targets.map(\.key)
                lease.cursor = walk.through
            }
            #expect(passed.count == count && passed == passed.sorted() && Set(passed).count == count, "\(audience)")
            _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: Sample.time(5), disposition: .finish))
            _ = try await storage.devices.remove(late.id, expecting: .none, in: Sample.hub)
        }
    }

    private static let skipsTwins = StoragePromise<HubStorage>("of several matching records of a handle the lowest is sent to") {
        storage in
        for (name, tags) in [("a", ["t"]), ("b", ["t"]), ("c", ["t"]), ("d", ["u"]), ("e", ["u"])] {
            _ = try await storage.devices.upsert(try Sample.device(name, handle: 1, tags: tags), in: Sample.hub, at: Sample.start)
        }
        _ = try await storage.intake.accept(try Sample.send(to: "t"))
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        guard case .walk(let walk) = try await storage.queue.page(Sample.page(lease))?.work else {
            Issue.record("there is something to walk")
            return
        }
        #expect(walk.targets.map(\.isSkipped) == [false, true, true])
    }

    private static let addsTallies = StoragePromise<HubStorage>("tallies add up over checkpoints and slices") { storage in
        let send = try Sample.send(size: 20_000)
        _ = try await storage.intake.accept(send)
        for lease in try await storage.queue.lease(Sample.lease(3)) {
            var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
            checkpoint.tallies = [.accepted: 2, .skipped: 1]
            for _ in 1...2 { #expect(try await storage.queue.checkpoint(checkpoint) == .stored(ended: nil)) }
        }
        let telemetry = try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start)
        #expect(telemetry?.outcomes == [.accepted: 12, .skipped: 6])
    }

    private static let keepsPendingRows = StoragePromise<HubStorage>("pending rows come back when they are due") { storage in
        let record = try await storage.devices.upsert(try Sample.device("a", handle: 1), in: Sample.hub, at: Sample.start).record
        _ = try await storage.intake.accept(try Sample.send())
        var lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        lease.cursor = lease.last
        let target = PendingTarget(
            key: record.sliceKey, cause: .unknown, attempts: 1, firstAt: Sample.start, notBefore: Sample.time(10))
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = [target]
        _ = try await storage.queue.checkpoint(checkpoint)
        let before = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(9))))
        #expect(before.work == .wait && before.pendingCount == 1 && before.nextPendingAt == Sample.time(10))
        let after = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(10))))
        #expect(after.work == .retries([.init(target: target, member: TargetPage.Target(record))]) && after.nextPendingAt == nil)
        var settled = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        settled.settled = [record.sliceKey]
        _ = try await storage.queue.checkpoint(settled)
        #expect(try await storage.queue.page(Sample.page(lease, at: Sample.time(10)))?.pendingCount == 0)
    }

    private static let takesTurns = StoragePromise<HubStorage>("due retries and the walk take turns as asked") { storage in
        let record = try await storage.devices.upsert(try Sample.device("a", handle: 1), in: Sample.hub, at: Sample.start).record
        _ = try await storage.intake.accept(try Sample.send())
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = [
            PendingTarget(key: record.sliceKey, cause: .retry, attempts: 1, firstAt: Sample.start, notBefore: Sample.start)
        ]
        _ = try await storage.queue.checkpoint(checkpoint)
        var request = Sample.page(lease, at: Sample.time(1))
        guard case .retries = try await storage.queue.page(request)?.work else {
            Issue.record("retries are due")
            return
        }
        request.turn = .walk
        let walk = try #require(try await storage.queue.page(request))
        #expect(
            walk.work
                == .walk(.init(targets: [try #require(TargetPage.Target(record))], through: lease.last))
        )
        #expect(walk.pendingCount == 1 && walk.nextPendingAt == Sample.start)
        request.pendingLimit = 1
        guard case .retries = try await storage.queue.page(request)?.work else {
            Issue.record("the walk has to wait, so the turn goes to the retries")
            return
        }
    }

    private static let countsBacklog = StoragePromise<HubStorage>("the backlog counts slices that are due, waiting and leased") {
        storage in
        _ = try await storage.intake.accept(try Sample.send(size: 20_000))
        _ = try await storage.intake.accept(try Sample.send())
        _ = try await storage.intake.accept(try Sample.send(due: Sample.time(50)))
        #expect(
            try await storage.telemetry.backlog(at: Sample.start)
                == .init(due: [.small: 1, .large: SlicePlan.split], waiting: 1, oldestDueAt: Sample.start))
        _ = try await storage.queue.lease(Sample.lease(3))
        #expect(
            try await storage.telemetry.backlog(at: Sample.time(1))
                == .init(due: [.large: SlicePlan.split - 2], waiting: 1, leased: 3, oldestDueAt: Sample.start))
        #expect(
            try await storage.telemetry.backlog(at: Sample.time(60))
                == .init(due: [.small: 2, .large: SlicePlan.split], oldestDueAt: Sample.start))
    }

    private static let checksRetriesAgain = StoragePromise<HubStorage>(
        "a phone that changed hands between two tries is not sent to"
    ) { storage in
        let request = try Sample.device("a", handle: 1, tags: ["username:ann"])
        let record = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start).record
        _ = try await storage.intake.accept(try Sample.send(to: "username:ann"))
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
        checkpoint.pending = [
            PendingTarget(key: record.sliceKey, cause: .retry, attempts: 1, firstAt: Sample.start, notBefore: Sample.start)
        ]
        _ = try await storage.queue.checkpoint(checkpoint)
        _ = try await storage.devices.upsert(
            try Sample.device("a", handle: 1, tags: ["username:bob"]), in: Sample.hub, at: Sample.time(1))
        guard case .retries(let due) = try await storage.queue.page(Sample.page(lease, at: Sample.time(2)))?.work else {
            Issue.record("the row is due")
            return
        }
        #expect(due.map(\.member) == [nil])
    }

    private static let forgetsByTimestamp = StoragePromise<HubStorage>(
        "a gone handle takes the records that registered before the moment"
    ) { storage in
        _ = try await storage.devices.upsert(try Sample.device("old", handle: 1, tags: ["t"]), in: Sample.hub, at: Sample.start)
        _ = try await storage.devices.upsert(
            try Sample.device("new", handle: 1, tags: ["t"]), in: Sample.hub, at: Sample.time(10))
        _ = try await storage.intake.accept(try Sample.send(at: Sample.time(11)))
        let lease = try #require(try await storage.queue.lease(Sample.lease(1, at: Sample.time(11))).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(11), disposition: .keep(until: Sample.time(60)))
        checkpoint.forgotten = [.init(platform: .apns, handle: Sample.handle(1), since: Sample.time(10))]
        _ = try await storage.queue.checkpoint(checkpoint)
        #expect(try await storage.devices.device(try Sample.record("old"), in: Sample.hub) == nil)
        #expect(try await storage.devices.device(try Sample.record("new"), in: Sample.hub) != nil)
        #expect(try await storage.intake.audienceSize(try Sample.send(to: "t").audience, in: Sample.hub, limit: 9) == 1)
    }

    private static let endsOnce = StoragePromise<HubStorage>("the last slice to finish ends the send") { storage in
        for (outcome, state) in [(TargetOutcome.accepted, NotificationState.completed), (.expired, .expired)] {
            let send = try Sample.send(size: 20_000)
            _ = try await storage.intake.accept(send)
            let leases = try await storage.queue.lease(Sample.lease(100))
            #expect(leases.count == SlicePlan.split)
            for (index, lease) in leases.enumerated() {
                var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(7), disposition: .finish)
                checkpoint.tallies = [outcome: 1]
                let answer = try await storage.queue.checkpoint(checkpoint)
                #expect(answer == .stored(ended: index == leases.count - 1 ? state : nil))
            }
            let telemetry = try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(8))
            #expect(telemetry?.state == state && telemetry?.endedAt == Sample.time(7))
        }
    }

    private static let takesOver = StoragePromise<HubStorage>("the only process frees what a dead one had leased") { storage in
        _ = try await storage.intake.accept(try Sample.send())
        let dead = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        #expect(try await storage.queue.releaseAll(of: "nobody", at: Sample.time(1)) == 0)
        #expect(try await storage.queue.releaseAll(of: nil, at: Sample.time(1)) == 1)
        #expect(try await storage.queue.renew(dead, until: Sample.time(99)) == false)
        #expect(try await storage.queue.lease(Sample.lease(1, at: Sample.time(1))).count == 1)
        #expect(try await storage.queue.releaseAll(of: Sample.lease(1).owner, at: Sample.time(1)) == 1)
    }
}
