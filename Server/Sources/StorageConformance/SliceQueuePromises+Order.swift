import PushHub
import RichPushModel
import Testing

extension SliceQueuePromises {
    /// The order of commits decides the audience, and no clock.
    static let ofOrder: [StoragePromise<HubStorage>] = [whateverTheClock, begunLater, retriesInOrder, endsInOrder]

    /// How far the clock is set back, in seconds, and forward.
    private static let jumps: [Int64] = [-86_400, -7_200, -30, 0, 30, 7_200, 86_400]

    private static let whateverTheClock = StoragePromise<HubStorage>(
        "a send reaches who registered before it and none who registered after it, however the clock was set in between"
    ) { storage in
        for (number, jump) in jumps.enumerated() {
            let tag = "t\(number)"
            let before = try ["a", "b"].enumerated().map {
                try Sample.device("\(tag)\($1)", handle: 1_000 * number + $0, tags: [tag])
            }
            let twin = try Sample.device("\(tag)a-twin", handle: 1_000 * number, tags: [tag])
            let after = try Sample.device("\(tag)c", handle: 1_000 * number + 2, tags: [tag])
            for request in before + [twin] { _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start) }
            let now = Sample.time(jump)
            // By one tag, by several and by a comparison: each is another way through the records.
            let sends = try [tag, "\(tag) || none", "\(tag) && !none"].map { try Sample.send(to: $0, at: now) }
            for send in sends { _ = try await storage.intake.accept(send) }
            _ = try await storage.devices.upsert(after, in: Sample.hub, at: now)
            for send in sends {
                let targets = try await targets(of: send, storage, at: now)
                #expect(Set(targets.map(\.record)) == Set((before + [twin]).map(\.id)), "\(jump) s")
                #expect(targets.filter(\.isSkipped).count == 1, "of the twins one is left out, \(jump) s")
            }
        }
    }

    private static let begunLater = StoragePromise<HubStorage>(
        "a send that was scheduled begins with its first lease: a device that registered by then is in its audience, in every slice"
    ) { storage in
        func register(_ name: String, at now: Timestamp) async throws {
            _ = try await storage.devices.upsert(try Sample.device(name, handle: 7, tags: ["t"]), in: Sample.hub, at: now)
        }
        let send = try Sample.send(size: 20_000, due: Sample.time(600))
        _ = try await storage.intake.accept(send)
        for number in 0..<20 {
            _ = try await storage.devices.upsert(
                try Sample.device("early\(number)", handle: number), in: Sample.hub, at: Sample.time(900))
        }
        #expect(try await storage.queue.lease(Sample.lease(1, at: Sample.time(599))).isEmpty)
        var leases = try await storage.queue.lease(Sample.lease(1, at: Sample.time(600)))
        // The clock is set back as well.
        for number in 20..<40 {
            _ = try await storage.devices.upsert(
                try Sample.device("late\(number)", handle: number), in: Sample.hub, at: Sample.start)
        }
        leases += try await storage.queue.lease(Sample.lease(99, at: Sample.time(600)))
        #expect(leases.count == SlicePlan.split)
        var found: Set<RecordID> = []
        for lease in leases {
            let page = try #require(try await storage.queue.page(Sample.page(lease, at: Sample.time(600))))
            guard case .walk(let walk) = page.work else { continue }
            found.formUnion(walk.targets.compactMap(\.record))
        }
        #expect(found == Set(try (0..<20).map { try Sample.record("early\($0)") }))
    }

    private static let retriesInOrder = StoragePromise<HubStorage>(
        "another try is not for a record that was removed and came back after the send, however the clock was set in between"
    ) { storage in
        for (number, jump) in jumps.enumerated() {
            let (kept, gone) = ("kept\(number)", "gone\(number)")
            let tag = "t\(number)"
            var records: [String: DeviceRecord] = [:]
            for (place, name) in [kept, gone].enumerated() {
                let request = try Sample.device(name, handle: 10 * number + place, tags: [tag])
                records[name] = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start).record
            }
            let now = Sample.time(jump)
            let send = try Sample.send(to: tag, at: now)
            _ = try await storage.intake.accept(send)
            var lease = try #require(try await storage.queue.lease(Sample.lease(1, at: now)).first)
            lease.cursor = lease.last
            var checkpoint = SliceCheckpoint(lease: lease, now: now, disposition: .keep(until: now + .seconds(60)))
            checkpoint.pending = records.values.map {
                PendingTarget(key: $0.sliceKey, cause: .retry, attempts: 1, firstAt: now, notBefore: now)
            }
            _ = try await storage.queue.checkpoint(checkpoint)
            _ = try await storage.devices.remove(try Sample.record(gone), expecting: .none, in: Sample.hub)
            for (place, name) in [kept, gone].enumerated() {
                let request = try Sample.device(name, handle: 10 * number + place, tags: [tag])
                _ = try await storage.devices.upsert(request, in: Sample.hub, at: now)
            }
            let page = try #require(try await storage.queue.page(Sample.page(lease, at: now)))
            guard case .retries(let due) = page.work else {
                Issue.record("no retries are due after \(jump) s")
                continue
            }
            #expect(due.compactMap { $0.member?.record?.text } == [kept], "\(jump) s")
            _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: now, disposition: .finish))
        }
    }

    private static let endsInOrder = StoragePromise<HubStorage>(
        "a send has an order number when it has ended or was cancelled, and a later end has a larger one"
    ) { storage in
        var ends: [OrderNumber] = []
        for jump in jumps {
            let now = Sample.time(jump)
            for isCancelled in [false, true] {
                let send = try Sample.send(size: 1, at: now)
                _ = try await storage.intake.accept(send)
                let lease = try #require(try await storage.queue.lease(Sample.lease(1, at: now)).first)
                #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: now)?.endOrder == nil)
                if isCancelled { #expect(try await storage.intake.cancel(send.id, in: Sample.hub, at: now)) }
                _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: now, disposition: .finish))
                let end = try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: now)?.endOrder
                ends.append(try #require(end))
            }
        }
        #expect(ends == ends.sorted() && Set(ends).count == ends.count)
    }

    private static func targets(
        of send: AcceptedSend, _ storage: HubStorage, at now: Timestamp
    ) async throws -> [TargetPage.Target] {
        let leases = try await storage.queue.lease(Sample.lease(99, at: now))
        let lease = try #require(leases.first { $0.id.notification == send.id })
        let page = try #require(try await storage.queue.page(Sample.page(lease, at: now)))
        for lease in leases {
            let done: SliceCheckpoint.Disposition = lease.id.notification == send.id ? .finish : .release(notBefore: now)
            _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: now, disposition: done))
        }
        guard case .walk(let walk) = page.work else { return [] }
        return Array(walk.targets)
    }
}
