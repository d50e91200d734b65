import PushHub
import RichPushModel
import Testing

/// What a `DeviceStore` promises, and what others see of devices through the queue.
public enum DeviceStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<HubStorage>] = [
        keepsARecord, keepsCreationOnReplacement, inactiveUntilRegistered, replacesTheSameHandle, separatesHubs, removes,
        findsByHandle, ensuresOneHub, tellsSpellingsApart,
    ]

    private static let keepsARecord = StoragePromise<HubStorage>("a record comes back as it was stored") { storage in
        // A mark at the beginning makes one character with whatever stands before it.
        let tags = ["news", "\u{308}x", "username:Ann"]
        var request = try Sample.device("phone", handle: 7, tags: tags)
        request.environment = "sandbox"
        request.topic = "com.example.app"
        request.userID = "ann"
        request.expiresAt = Sample.time(500)
        let stored = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start).record
        #expect(try await storage.devices.device(request.id, in: Sample.hub) == stored)
        #expect(stored.tags.map(\.text) == tags)
        #expect(stored.version == 1 && stored.createdAt == Sample.start && stored.registeredAt == Sample.start)
    }

    private static let keepsCreationOnReplacement = StoragePromise<HubStorage>(
        "a replaced record keeps creation time and slice key and counts its version"
    ) { storage in
        let first = try await storage.devices.upsert(
            try Sample.device("phone", handle: 1, tags: ["a", "b"]), in: Sample.hub, at: Sample.start)
        let second = try await storage.devices.upsert(
            try Sample.device("phone", handle: 2, tags: ["b", "c"]), in: Sample.hub, at: Sample.time(5))
        #expect(second.record.createdAt == Sample.start && second.record.registeredAt == Sample.time(5))
        #expect(second.record.sliceKey == first.record.sliceKey && second.record.version == 2)
        for (tag, count) in [("a", 0), ("b", 1), ("c", 1)] {
            let audience = try Sample.send(to: tag).audience
            #expect(try await storage.intake.audienceSize(audience, in: Sample.hub, limit: 10) == count)
        }
    }

    private static let tellsSpellingsApart = StoragePromise<HubStorage>(
        "two spellings of one Unicode letter are two tags, and a replaced one leaves nothing behind"
    ) { storage in
        let spellings = ["\u{D55C}", "\u{1112}\u{1161}\u{11AB}"]
        for spelling in spellings {
            _ = try await storage.devices.upsert(
                try Sample.device("phone", handle: 1, tags: [spelling]), in: Sample.hub, at: Sample.start)
        }
        for (spelling, count) in zip(spellings, [0, 1]) {
            let audience = try Sample.send(to: spelling).audience
            #expect(try await storage.intake.audienceSize(audience, in: Sample.hub, limit: 10) == count)
        }
        #expect(try await storage.devices.remove(try Sample.record("phone"), in: Sample.hub))
        for spelling in spellings {
            let audience = try Sample.send(to: spelling).audience
            #expect(try await storage.intake.audienceSize(audience, in: Sample.hub, limit: 10) == 0)
        }
    }

    private static let inactiveUntilRegistered = StoragePromise<HubStorage>(
        "an inactive record is in no audience until it registers again"
    ) { storage in
        let record = try await storage.devices.upsert(try Sample.device("phone", handle: 1), in: Sample.hub, at: Sample.start)
            .record
        _ = try await storage.intake.accept(try Sample.send())
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        var checkpoint = SliceCheckpoint(lease: lease, now: Sample.time(1), disposition: .keep(until: Sample.time(60)))
        checkpoint.badTokens = [.init(key: record.sliceKey, version: record.version)]
        #expect(try await storage.queue.checkpoint(checkpoint) == .stored(ended: nil))
        #expect(try await storage.devices.device(record.id, in: Sample.hub)?.inactiveAt == Sample.time(1))
        #expect(try await storage.queue.page(Sample.page(lease))?.work == .walk(.init(targets: [], through: .last)))
        let again = try await storage.devices.upsert(try Sample.device("phone", handle: 1), in: Sample.hub, at: Sample.time(2))
        #expect(again.record.inactiveAt == nil)
        // The finding is about the record as it was: it does not make the newer registration inactive.
        #expect(try await storage.queue.checkpoint(checkpoint) == .stored(ended: nil))
        #expect(try await storage.devices.device(record.id, in: Sample.hub)?.inactiveAt == nil)
    }

    private static let replacesTheSameHandle = StoragePromise<HubStorage>(
        "other records of the handle go when the request says so, and only then"
    ) { storage in
        for name in ["one", "two"] {
            _ = try await storage.devices.upsert(
                try Sample.device(name, handle: 1, tags: ["old"]), in: Sample.hub, at: Sample.start)
        }
        #expect(try await storage.devices.count(in: Sample.hub) == 2)
        let stored = try await storage.devices.upsert(
            try Sample.device("three", handle: 1, tags: ["new"], replaces: true), in: Sample.hub, at: Sample.start)
        #expect(Set(stored.replaced.map(\.text)) == ["one", "two"])
        #expect(try await storage.devices.count(in: Sample.hub) == 1)
        let old = try Sample.send(to: "old").audience
        #expect(try await storage.intake.audienceSize(old, in: Sample.hub, limit: 10) == 0)
    }

    private static let separatesHubs = StoragePromise<HubStorage>("a hub sees nothing of another hub") { storage in
        let request = try Sample.device("phone", handle: 1, tags: ["a"])
        _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        #expect(try await storage.devices.device(request.id, in: Sample.otherHub) == nil)
        #expect(try await storage.devices.remove(request.id, in: Sample.otherHub) == false)
        #expect(try await storage.devices.count(in: Sample.otherHub) == 0)
        #expect(try await storage.intake.audienceSize(nil, in: Sample.otherHub, limit: 10) == 0)
        let send = try Sample.send()
        _ = try await storage.intake.accept(send)
        #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.otherHub, at: Sample.start) == nil)
        #expect(try await storage.intake.cancel(send.id, in: Sample.otherHub, at: Sample.start) == false)
    }

    private static let removes = StoragePromise<HubStorage>("a removed record is gone with its tags") { storage in
        let request = try Sample.device("phone", handle: 1, tags: ["a"])
        _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        #expect(try await storage.devices.remove(request.id, in: Sample.hub))
        #expect(try await storage.devices.remove(request.id, in: Sample.hub) == false)
        for audience in ["a", "$InstallationId:{phone}"] {
            let size = try await storage.intake.audienceSize(
                try Sample.send(to: audience).audience, in: Sample.hub, limit: 10)
            #expect(size == 0)
        }
    }

    private static let findsByHandle = StoragePromise<HubStorage>("records are found by handle, lowest key first") { storage in
        for name in ["a", "b", "c"] {
            _ = try await storage.devices.upsert(try Sample.device(name, handle: 9), in: Sample.hub, at: Sample.start)
        }
        _ = try await storage.devices.upsert(try Sample.device("d", handle: 8), in: Sample.hub, at: Sample.start)
        let found = try await storage.devices.devices(with: Sample.handle(9), platform: .apns, in: Sample.hub, limit: 10)
        #expect(found.map(\.sliceKey) == found.map(\.sliceKey).sorted() && Set(found.map(\.id.text)) == ["a", "b", "c"])
    }

    private static let ensuresOneHub = StoragePromise<HubStorage>("a hub's name has one permanent id") { storage in
        let first = try await storage.hubs.ensureHub(named: "first", at: Sample.start)
        let second = try await storage.hubs.ensureHub(named: "second", at: Sample.start)
        #expect(first != second)
        #expect(try await storage.hubs.ensureHub(named: "first", at: Sample.time(1)) == first)
        #expect(try await storage.hubs.hub(named: "second") == second)
        #expect(try await storage.hubs.hub(named: "Second") == nil)
    }
}
