import PushHub
import RichPushModel
import Testing

extension SendKindPromises {
    /// What the ports promise of the targets of one send that got no push.
    static let errors: [StoragePromise<HubStorage>] = [readsFeedbackOfSends, readsErrors, readsFailures]

    private static let readsFeedbackOfSends = StoragePromise<HubStorage>(
        "feedback of one send is read in pages, without that of other sends and hubs"
    ) { storage in
        let (one, other) = (send(.native(.apns)), send(.native(.apns)))
        let (leaseOfOne, leaseOfOther) = (try await leased(storage, one), try await leased(storage, other))
        for (lease, numbers) in [(leaseOfOne, 1...3), (leaseOfOther, 4...5), (leaseOfOne, 6...8)] {
            var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .keep(until: Sample.time(60)))
            checkpoint.feedback = numbers.map { number in
                DeviceFeedback(
                    platform: .apns, handle: Sample.handle(number), record: nil, notification: lease.id.notification,
                    reason: .gone, notedAt: Sample.start)
            }
            #expect(try await storage.queue.checkpoint(checkpoint) != .refused)
        }
        var read: [DeviceFeedback] = []
        while true {
            let page = try await storage.telemetry.feedback(
                of: one.id, after: read.last?.number ?? 0, limit: 4, in: Sample.hub)
            guard !page.isEmpty else { break }
            #expect(page.count <= 4)
            read += page
        }
        #expect(read.map(\.handle) == [1, 2, 3, 6, 7, 8].map(Sample.handle))
        #expect(try await storage.telemetry.feedback(of: one.id, after: 0, limit: 9, in: Sample.otherHub).isEmpty)
    }

    private static let readsErrors = StoragePromise<HubStorage>(
        "errors of a send name the devices that are there, and leave out what feedback lists and what is no error"
    ) { storage in
        let phone = InstallationUpsert(id: try Sample.record("phone"), handle: Sample.handle(1))
        _ = try await storage.devices.put(phone, in: Sample.hub, at: Sample.start)
        var registration = try Sample.device("registration", handle: 2)
        registration.kind = .registration
        _ = try await storage.devices.upsert(registration, in: Sample.hub, at: Sample.start)
        let sent = send(.native(.apns))
        let lease = try await leased(storage, sent)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .finish)
        let failed: [(RecordID?, TargetOutcome)] = [
            (phone.id, .rejected), (registration.id, .tooLarge), (try Sample.record("removed"), .expired), (nil, .noTransport),
            (registration.id, .gone), (registration.id, .badToken), (registration.id, .removed), (registration.id, .skipped),
        ]
        checkpoint.failures = failed.enumerated().map { index, failure in
            TargetFailure(
                key: SliceKey(Int64(index + 1)), platform: .apns, record: failure.0, outcome: failure.1, reason: nil)
        }
        #expect(try await storage.queue.checkpoint(checkpoint) == .stored(ended: .completed))
        let found = try await storage.telemetry.errors(of: sent.id, notedAt: Sample.time(7), limit: 9, in: Sample.hub)
        #expect(found.map(\.outcome) == [.rejected, .tooLarge, .expired, .noTransport])
        #expect(found.map(\.handle) == [Sample.handle(1), Sample.handle(2), nil, nil])
        #expect(found.map(\.installation?.text) == ["phone", nil, nil, nil])
        #expect(found.map(\.record) == failed.prefix(4).map { $0.0 })
        #expect(found.allSatisfy { $0.notedAt == Sample.time(7) && $0.platform == .apns })
        let first = try await storage.telemetry.errors(of: sent.id, notedAt: Sample.time(7), limit: 1, in: Sample.hub)
        #expect(first == Array(found.prefix(1)))
        #expect(try await storage.telemetry.errors(of: sent.id, notedAt: Sample.start, limit: 9, in: Sample.otherHub).isEmpty)
    }

    private static let readsFailures = StoragePromise<HubStorage>(
        "failures of a send are read in pages and by outcome, over all slices, without those of other sends and hubs"
    ) { storage in
        let (large, other) = (try Sample.send(size: SlicePlan.singleSliceLimit + 1), send(.native(.apns)))
        for accepted in [large, other] { #expect(try await storage.intake.accept(accepted) == .accepted) }
        let outcomes: [TargetOutcome] = [.rejected, .gone, .expired]
        var leases: [SliceLease] = []
        while leases.count <= SlicePlan.split {
            let more = try await storage.queue.lease(Sample.lease(100))
            try #require(!more.isEmpty)
            leases += more
        }
        for lease in leases {
            var checkpoint = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .finish)
            checkpoint.failures = outcomes.enumerated().map { index, outcome in
                let key = SliceKey(lease.cursor.number + 1 + Int64(index))
                return TargetFailure(key: key, platform: .apns, record: nil, outcome: outcome, reason: "r\(index)")
            }
            #expect(try await storage.queue.checkpoint(checkpoint) != .refused)
        }
        func read(_ outcome: TargetOutcome?, limit: Int) async throws -> [TargetFailure] {
            var found: [TargetFailure] = []
            while true {
                let page = try await storage.telemetry.failures(
                    of: large.id, outcome: outcome, after: found.last?.key ?? .beforeAll, limit: limit, in: Sample.hub)
                #expect(page.count <= limit)
                guard !page.isEmpty else { return found }
                found += page
            }
        }
        for limit in [1, 7, 100] {
            let found = try await read(nil, limit: limit)
            #expect(found.count == 3 * SlicePlan.split)
            #expect(found.map(\.key) == found.map(\.key).sorted() && Set(found.map(\.key)).count == found.count)
            let expired = try await read(.expired, limit: limit)
            #expect(expired == found.filter { $0.outcome == .expired } && expired.count == SlicePlan.split)
        }
        #expect(try await read(.removed, limit: 9).isEmpty)
        let elsewhere = try await storage.telemetry.failures(
            of: large.id, outcome: nil, after: .beforeAll, limit: 9, in: Sample.otherHub)
        #expect(elsewhere.isEmpty)
    }
}
