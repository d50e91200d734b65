import ClarionTesting
import PushHub
import RichPushModel
import Testing

import struct RichPushModel.Tag

extension SliceQueuePromises {
    /// Sends with a frequency cap.
    static let ofCaps: [StoragePromise<HubStorage>] = [
        holdsBack, countsUsersOnce, keepsNamesApart, countsWithinTheWindow, countsTogether, saysWhatCounts, knowsTheCapOfAPage,
        forgetsCounts,
    ]

    private static let holdsBack = StoragePromise<HubStorage>("who had as many sends as the cap allows is held back") { storage in
        let devices = try await Caps.register(["ann", "bob"], storage)
        let cap = try Caps.cap("news=2/1h")
        for _ in 1...2 {
            #expect(try await Caps.held(devices, cap, storage).isEmpty)
        }
        let third = Caps.slice()
        #expect(try await Caps.held(devices, cap, of: third, storage) == Set(devices))
        #expect(try await Caps.held(devices, try Caps.cap("news=3/1h"), of: third, storage).isEmpty, "nothing was counted")
    }

    private static let countsUsersOnce = StoragePromise<HubStorage>(
        "a send counts once for all devices of a user, however often it is asked for"
    ) { storage in
        let devices = try await Caps.register(["ann", "ann", "ANN"], storage)
        let other = try await Caps.register(["", ""], from: 10, storage)
        let cap = try Caps.cap("news=1/1h")
        let first = Caps.slice()
        for device in devices + other {
            #expect(try await Caps.held([device], cap, of: first, storage).isEmpty)
        }
        #expect(try await Caps.held(devices + other, cap, of: first, storage).isEmpty)
        let second = Caps.slice()
        #expect(try await Caps.held([devices[2], other[1]], cap, of: second, storage) == [devices[2], other[1]])
        let named = try await Caps.register(["user-id", "user-id"], from: 20, isOfProtocol: true, storage)
        #expect(try await Caps.held([named[0]], cap, of: first, storage).isEmpty)
        #expect(try await Caps.held([named[1]], cap, of: second, storage) == [named[1]])
    }

    private static let keepsNamesApart = StoragePromise<HubStorage>("caps of other names and hubs count for themselves") {
        storage in
        let devices = try await Caps.register(["ann"], storage)
        #expect(try await Caps.held(devices, try Caps.cap("news=1/1h"), storage).isEmpty)
        #expect(try await Caps.held(devices, try Caps.cap("news=1/1h"), storage) == Set(devices))
        #expect(try await Caps.held(devices, try Caps.cap("offers=1/1h"), storage).isEmpty)
        var device = try Sample.device("elsewhere", handle: 5)
        device.tags = [try Caps.tag("ann")]
        let elsewhere = try await storage.devices.upsert(device, in: Sample.otherHub, at: Sample.start).record.sliceKey
        let slice = Caps.slice(in: Sample.otherHub)
        #expect(try await Caps.held([elsewhere], try Caps.cap("news=1/1h"), of: slice, storage).isEmpty)
    }

    private static let countsWithinTheWindow = StoragePromise<HubStorage>(
        "a send counts for as long as the cap looks back, and no longer"
    ) { storage in
        let devices = try await Caps.register(["ann"], storage)
        let cap = try Caps.cap("news=1/1m")
        #expect(try await Caps.held(devices, cap, storage).isEmpty)
        #expect(try await Caps.held(devices, cap, at: Sample.time(59), storage) == Set(devices))
        #expect(try await Caps.held(devices, cap, at: Sample.time(60), storage).isEmpty)
        let shorter = try #require(FrequencyCap("news", limit: 1, window: .seconds(60)))
        #expect(try await Caps.held(devices, shorter, at: Sample.time(90), storage) == Set(devices), "the second counts")
    }

    private static let countsTogether = StoragePromise<HubStorage>(
        "of several sends at the same time as many pass as the cap allows"
    ) { storage in
        let devices = try await Caps.register((0..<150).map { "user-\($0)" }, storage)
        let cap = try Caps.cap("news=3/1h")
        let held = try await withThrowingTaskGroup(of: Set<SliceKey>.self) { group in
            for _ in 0..<5 { group.addTask { try await Caps.held(devices, cap, storage) } }
            return try await group.reduce(into: [SliceKey]()) { $0 += $1 }
        }
        #expect(
            Dictionary(grouping: held, by: \.self).mapValues(\.count) == Dictionary(uniqueKeysWithValues: devices.map { ($0, 2) })
        )
    }

    private static let saysWhatCounts = StoragePromise<HubStorage>(
        "what the cap says of a device can be asked, for a send that has one"
    ) { storage in
        let devices = try await Caps.register(["ann"], storage)
        let device = try Sample.record("phone-0")
        let cap = try Caps.cap("news=1/1h")
        var sends: [AcceptedSend] = []
        for _ in 1...2 {
            var send = try Sample.send()
            send.cap = cap
            _ = try await storage.intake.accept(send)
            _ = try await Caps.held(devices, cap, of: SliceID(hub: Sample.hub, notification: send.id, number: 0), storage)
            sends.append(send)
        }
        func count(_ send: AcceptedSend, _ device: RecordID, at second: Int64 = 0) async throws -> CapCount? {
            try await storage.telemetry.capCount(of: device, for: send.id, in: Sample.hub, at: Sample.time(second))
        }
        #expect(try await count(sends[0], device) == CapCount(cap: cap, isCounted: true, others: 0))
        #expect(try await count(sends[1], device) == CapCount(cap: cap, isCounted: false, others: 1))
        #expect(try await count(sends[1], device, at: 3_600) == CapCount(cap: cap, isCounted: false, others: 0))
        #expect(try await count(sends[0], try Sample.record("nothing")) == nil)
        let plain = try Sample.send()
        _ = try await storage.intake.accept(plain)
        #expect(try await count(plain, device) == nil)
    }

    private static let knowsTheCapOfAPage = StoragePromise<HubStorage>("a page has the cap of its send") { storage in
        for cap in [try Caps.cap("news=3/7d"), nil] {
            var send = try Sample.send()
            send.cap = cap
            _ = try await storage.intake.accept(send)
            let lease = try #require(try await storage.queue.lease(Sample.lease(9)).first)
            let page = try #require(try await storage.queue.page(Sample.page(lease)))
            #expect(page.cap == cap)
            _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: Sample.start, disposition: .finish))
        }
    }

    private static let forgetsCounts = StoragePromise<HubStorage>("counts that count no more are removed, and no others") {
        storage in
        let devices = try await Caps.register(["ann"], storage)
        let (short, long) = (try Caps.cap("news=1/1m"), try Caps.cap("offers=1/1h"))
        for cap in [short, long] { _ = try await Caps.held(devices, cap, storage) }
        #expect(try await storage.telemetry.sweep(endedBefore: Sample.start, at: Sample.time(60), limit: 10) == 0)
        #expect(try await storage.telemetry.sweep(endedBefore: Sample.start, at: Sample.time(61), limit: 10) == 1)
        #expect(try await Caps.held(devices, long, at: Sample.time(61), storage) == Set(devices))
    }
}

/// Devices and questions of the promises above.
private enum Caps {
    static func cap(_ text: String) throws -> FrequencyCap { try #require(FrequencyCap(text)) }

    static func tag(_ user: String) throws -> Tag { Tag.user(try #require(UserName(user))) }

    static func slice(in hub: HubID = Sample.hub) -> SliceID { SliceID(hub: hub, notification: NotificationID(), number: 0) }

    /// A device for each name of a user; one without a name has no user.
    static func register(
        _ users: [String], from first: Int = 0, isOfProtocol: Bool = false, _ storage: HubStorage
    ) async throws -> [SliceKey] {
        var keys: [SliceKey] = []
        for (number, user) in users.enumerated() {
            var device = try Sample.device("phone-\(first + number)", handle: first + number + 1, tags: ["t"])
            if isOfProtocol {
                device.userID = user
            } else if !user.isEmpty {
                device.tags.append(try tag(user))
            }
            keys.append(try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start).record.sliceKey)
        }
        return keys
    }

    static func held(
        _ devices: [SliceKey], _ cap: FrequencyCap, of slice: SliceID = slice(), at now: Timestamp = Sample.start,
        _ storage: HubStorage
    ) async throws -> Set<SliceKey> {
        try await storage.queue.count(devices, for: cap, of: slice, at: now)
    }
}
