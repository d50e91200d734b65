import PushHub
import RichPushModel
import Testing

extension SliceQueuePromises {
    /// What a queue promises of checkpoints that are written together, and of their feedback.
    static let checkpoints: [StoragePromise<HubStorage>] = [writesTogether, namesInstallations]

    private static let writesTogether = StoragePromise<HubStorage>(
        "checkpoints of several slices are written together, each answered by itself"
    ) { storage in
        let (one, two) = (try Sample.send(), try Sample.send())
        for send in [one, two] { _ = try await storage.intake.accept(send) }
        let lost = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        let leases = try await storage.queue.lease(Sample.lease(4, at: Sample.time(60)))
        #expect(leases.count == 2)
        let answers = try await storage.queue.checkpoints(
            (leases + [lost]).map { lease in
                var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(61), disposition: .keep(until: Sample.time(99)))
                checkpoint.lease.cursor = SliceKey(7)
                checkpoint.tallies = [.accepted: 5]
                return checkpoint
            })
        #expect(answers == [.stored(ended: nil), .stored(ended: nil), .refused])
        for send in [one, two] {
            let telemetry = try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(61))
            #expect(telemetry?.outcomes == [.accepted: 5])
        }
        let ends = try await storage.queue.checkpoints(
            leases.map { SliceCheckpoint(lease: $0, now: Sample.time(62), disposition: .finish) })
        #expect(ends == [.stored(ended: .completed), .stored(ended: .completed)])
        #expect(try await storage.queue.checkpoints([]).isEmpty)
    }

    private static let namesInstallations = StoragePromise<HubStorage>(
        "feedback names the installation of its record, which its page did not name, although the record goes with it"
    ) { storage in
        let phone = InstallationUpsert(
            id: try Sample.record("phone"), handle: Sample.handle(1),
            templates: ["t": .init(DeviceTemplate(name: "t", body: #"{"aps":{"alert":"$(a)"}}"#))])
        _ = try await storage.devices.put(phone, in: Sample.hub, at: Sample.start)
        let tag = try #require(Tag.stored("$installationid:{phone}"))
        let records = try await storage.devices.devices(DeviceListRequest(.tag(tag)), in: Sample.hub).records.map(\.id)
        #expect(records.count == 2)
        var registration = try Sample.device("registration", handle: 2)
        registration.kind = .registration
        _ = try await storage.devices.upsert(registration, in: Sample.hub, at: Sample.start)
        _ = try await storage.intake.accept(try Sample.send(at: Sample.time(1)))
        let lease = try #require(try await storage.queue.lease(Sample.lease(1, at: Sample.time(1))).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(9), disposition: .finish)
        checkpoint.feedback = (records + [registration.id, try Sample.record("unknown")]).map { record in
            DeviceFeedback(
                platform: .apns, handle: Sample.handle(1), record: record, notification: lease.id.notification, reason: .gone,
                notedAt: Sample.time(9))
        }
        checkpoint.forgotten = [.init(platform: .apns, handle: Sample.handle(1), since: Sample.time(8))]
        #expect(try await storage.queue.checkpoint(checkpoint) != .refused)
        let feedback = try await storage.telemetry.feedback(after: 0, limit: 9, in: Sample.hub)
        #expect(feedback.map(\.installation?.text) == ["phone", "phone", nil, nil])
        #expect(try await storage.devices.devices(DeviceListRequest(.tag(tag)), in: Sample.hub).records.isEmpty)
    }
}
