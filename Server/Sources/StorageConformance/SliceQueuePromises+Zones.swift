import ClarionTesting
import PushHub
import RichPushModel
import TagExpressions
import Testing

extension SliceQueuePromises {
    /// Sends that are due at a local time.
    static let ofZones: [StoragePromise<HubStorage>] = [
        readsEachZoneAtItsMoment, expiresByWave, reachesEachDeviceOnce, keepsTheZone, listsZones, forgetsZones,
    ]

    private static let readsEachZoneAtItsMoment = StoragePromise<HubStorage>(
        "a send by local time reads each device in the wave of its zone, however the wave finds it"
    ) { storage in
        let zones = ["one": "Asia/Tokyo", "two": "Asia/Seoul", "three": "Europe/Berlin", "four": "Europe/Paris", "five": ""]
        for (number, (name, zone)) in zones.sorted(by: { $0.key < $1.key }).enumerated() {
            for (place, tags) in [["t"], ["t", "u"], []].enumerated() {
                let device = try Zones.device("\(name)-\(place)", 10 * number + place, zone: zone, tags: tags)
                _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start)
            }
        }
        let moments = ["Asia/Tokyo": 1, "Asia/Seoul": 1, "Europe/Berlin": 8]
        for audience in [nil, "t", "t && !u", "t || u", "!u"] {
            let matching = try ["0": ["t"], "1": ["t", "u"], "2": []].mapValues { tags in
                try audience.map { try TagExpression(parsing: $0).matches(Set(Sample.tags(tags))) } ?? true
            }
            for isNarrow in [false, true] {
                let send = try Zones.send(to: audience, moments, otherwise: 5, isNarrow: isNarrow)
                _ = try await storage.intake.accept(send)
                for (hour, names) in [(1, ["one", "two"]), (5, ["five", "four"]), (8, ["three"])] {
                    let expected = names.flatMap { name in ["0", "1", "2"].filter { matching[$0]! }.map { "\(name)-\($0)" } }
                    let found = try await Zones.wave(at: Zones.hour(hour), storage)
                    #expect(found.sorted() == expected, "\(audience ?? "all") at \(hour), narrow: \(isNarrow)")
                }
                #expect(
                    try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Zones.hour(9))?.state == .completed)
            }
        }
    }

    private static let expiresByWave = StoragePromise<HubStorage>(
        "each wave has its own moment, and its own expiry if it has one"
    ) {
        storage in
        _ = try await storage.devices.upsert(
            try Zones.device("one", 1, zone: "Asia/Tokyo"), in: Sample.hub, at: Sample.start)
        var send = try Zones.send(to: nil, ["Asia/Tokyo": 2], otherwise: 4)
        send.message.expiresAt = Zones.hour(99)
        send.waves[0].expiresAt = Zones.hour(3)
        _ = try await storage.intake.accept(send)
        #expect(try await storage.queue.lease(Sample.lease(9, at: Zones.hour(1))).isEmpty)
        let first = try #require(try await storage.queue.lease(Sample.lease(9, at: Zones.hour(2))).first)
        let page = try #require(try await storage.queue.page(Sample.page(first, at: Zones.hour(2))))
        #expect(page.dueAt == Zones.hour(2))
        #expect(page.message.expiresAt == Zones.hour(3))
        _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: first, now: Zones.hour(2), disposition: .finish))
        let progress = try await storage.telemetry.waves(of: send.id, in: Sample.hub)
        #expect(
            progress == [
                WaveProgress(moment: Zones.hour(2), zones: ["Asia/Tokyo"], isOver: true),
                WaveProgress(moment: Zones.hour(4), zones: [ZoneMoments.otherZones], isOver: false),
            ])
        let second = try #require(try await storage.queue.lease(Sample.lease(9, at: Zones.hour(4))).first)
        #expect(try await storage.queue.page(Sample.page(second, at: Zones.hour(4)))?.message.expiresAt == Zones.hour(99))
    }

    private static let reachesEachDeviceOnce = StoragePromise<HubStorage>(
        "a send by local time reaches each device once, wherever the device goes meanwhile"
    ) { storage in
        var random = SeededGenerator()
        print("seed \(random.seed)")
        for round in 0..<12 {
            let journey = try Zones.Journey(round: round, isNarrow: round.isMultiple(of: 2), &random)
            let reached = try await journey.run(storage)
            for device in journey.devices {
                #expect(reached[device.id.text] == 1, "round \(round): \(journey.reports.filter { $0.device == device.id.text })")
            }
        }
    }

    private static let keepsTheZone = StoragePromise<HubStorage>(
        "a device keeps its zone when a client of the hub protocol replaces it, and changes it at most once in 27 hours"
    ) { storage in
        var device = try Zones.device("one", 1, zone: "Asia/Tokyo")
        func zone(after report: String?, hour: Int) async throws -> DeviceZone {
            device.timeZone = report
            return try await storage.devices.upsert(device, in: Sample.hub, at: Zones.hour(hour)).record.zone
        }
        #expect(try await zone(after: "Asia/Tokyo", hour: 0) == DeviceZone("Asia/Tokyo"))
        let moved = DeviceZone("Europe/Berlin", former: "Asia/Tokyo", changedAt: Zones.hour(1))
        #expect(try await zone(after: "Europe/Berlin", hour: 1) == moved)
        let again = InstallationUpsert(id: device.id, handle: device.handle, tags: Sample.tags(["t"]))
        _ = try await storage.devices.put(again, in: Sample.hub, at: Zones.hour(2))
        #expect(try await storage.devices.device(device.id, in: Sample.hub)?.zone == moved)
        var waiting = moved
        waiting.next = "Europe/London"
        #expect(try await zone(after: "Europe/London", hour: 3) == waiting)
        #expect(try await zone(after: nil, hour: 4) == waiting)
        #expect(try await storage.devices.settleZones(at: Zones.hour(27), limit: 10) == 0)
        #expect(try await storage.devices.settleZones(at: Zones.hour(28), limit: 10) == 1)
        let settled = DeviceZone("Europe/London", former: "Europe/Berlin", changedAt: Zones.hour(28))
        #expect(try await storage.devices.device(device.id, in: Sample.hub)?.zone == settled)
        #expect(try await storage.devices.settleZones(at: Zones.hour(99), limit: 10) == 0)
        #expect(
            try await storage.intake.deviceCounts(
                ofZones: ["Asia/Tokyo", "Europe/Berlin", "Europe/London"], in: Sample.hub, limit: 9)
                == ["Asia/Tokyo": 0, "Europe/Berlin": 1, "Europe/London": 1])
    }

    private static let listsZones = StoragePromise<HubStorage>(
        "the zones of a small audience are its own and those before a change; of a large one they are those of its hub"
    ) { storage in
        for (number, zone) in ["Asia/Tokyo", "Europe/Berlin", "", "Europe/Paris"].enumerated() {
            let device = try Zones.device("device-\(number)", number, zone: zone, tags: number < 3 ? ["t"] : ["u"])
            _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start)
        }
        let elsewhere = try Zones.device("elsewhere", 9, zone: "Africa/Cairo")
        _ = try await storage.devices.upsert(elsewhere, in: Sample.otherHub, at: Sample.start)
        let moved = try Zones.device("device-3", 3, zone: "Europe/Rome", tags: ["u"])
        _ = try await storage.devices.upsert(moved, in: Sample.hub, at: Sample.time(1))
        let all: Set = ["Asia/Tokyo", "Europe/Berlin", "Europe/Paris", "Europe/Rome", ""]
        for (audience, limit, zones) in [
            ("t", 3, ["Asia/Tokyo", "Europe/Berlin", ""]), ("u", 3, ["Europe/Paris", "Europe/Rome"]), ("t || u", 4, all),
            ("t", 2, all), ("!t", 9, all), ("none", 9, []),
        ] as [(String, Int, Set<String>)] {
            let expression = try TagExpression(parsing: audience)
            #expect(
                try await storage.intake.timeZones(of: expression, in: Sample.hub, limit: limit) == zones, "\(audience) \(limit)")
        }
        #expect(try await storage.intake.timeZones(of: nil, in: Sample.otherHub, limit: 9) == ["Africa/Cairo", ""])
    }

    private static let forgetsZones = StoragePromise<HubStorage>(
        "the moments of a send go with it, and the zone of a device with it"
    ) {
        storage in
        let device = try Zones.device("one", 1, zone: "Asia/Tokyo")
        _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start)
        let send = try Zones.send(to: nil, ["Asia/Tokyo": 2], otherwise: 4)
        _ = try await storage.intake.accept(send)
        #expect(try await storage.intake.cancel(send.id, in: Sample.hub, at: Sample.time(1)))
        #expect(try await storage.queue.lease(Sample.lease(9, at: Zones.hour(9))).isEmpty)
        #expect(try await storage.telemetry.waves(of: send.id, in: Sample.hub).count == 2)
        _ = try await storage.telemetry.sweep(endedBefore: Sample.time(2), at: Sample.time(2), limit: 10)
        #expect(try await storage.telemetry.waves(of: send.id, in: Sample.hub).isEmpty)
        #expect(try await storage.devices.remove(device.id, in: Sample.hub))
        #expect(try await storage.intake.timeZones(of: nil, in: Sample.hub, limit: 9) == [""])
    }
}

/// Devices, sends and waves of the promises above.
private enum Zones {
    static func hour(_ hours: Int) -> Timestamp { Sample.time(Int64(hours) * 3600) }

    static func device(_ name: String, _ number: Int, zone: String, tags: [String] = []) throws -> DeviceUpsert {
        var device = try Sample.device(name, handle: number, tags: tags)
        device.timeZone = zone.isEmpty ? nil : zone
        return device
    }

    /// A send whose waves are so many hours away. A narrow one finds its devices by their zones.
    static func send(
        to audience: String?, _ hours: [String: Int], otherwise: Int, isNarrow: Bool = false
    ) throws -> AcceptedSend {
        var send = try Sample.send(to: audience, due: hour(1))
        var all = hours
        all[ZoneMoments.otherZones] = otherwise
        send.waves = try Dictionary(grouping: all.keys) { all[$0]! }.sorted { $0.key < $1.key }.map { moment, zones in
            let own = try AudienceQuery(send.audience)
            let isOther = zones.contains(ZoneMoments.otherZones)
            let narrow = AudienceQuery(send.audience, amongAnyOf: zones.map(DeviceZone.indexEntry))
            return SendWave(
                moment: hour(moment), zones: zones.sorted(), query: isNarrow && !isOther ? try #require(narrow) : own,
                slices: SlicePlan(audience: 100))
        }
        return send
    }

    /// The names of the devices in the slices that are due now, which are finished.
    static func wave(at now: Timestamp, _ storage: HubStorage) async throws -> [String] {
        var names: [String] = []
        for var lease in try await storage.queue.lease(Sample.lease(9, at: now)) {
            var page = 0
            while lease.cursor < lease.last, page < 100 {
                guard case .walk(let walk) = try await storage.queue.page(Sample.page(lease, at: now, limit: 3))?.work else {
                    break
                }
                names += walk.targets.compactMap(\.record?.text)
                lease.cursor = walk.through
                page += 1
            }
            #expect(lease.cursor == lease.last)
            _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: now, disposition: .finish))
        }
        return names
    }

    /// Devices that change their zones while a send goes round the world.
    struct Journey {
        struct Report {
            var minute: Int
            var device: String
            var zone: String
        }

        let devices: [DeviceUpsert]
        let reports: [Report]
        private let hours = ["A": 40, "B": 43, "C": 48, "D": 53, "E": 60, "F": 66]
        private let isNarrow: Bool
        /// How many minutes after its moment each wave is read.
        private let lag: Int

        init(round: Int, isNarrow: Bool, _ random: inout SeededGenerator) throws {
            self.isNarrow = isNarrow
            lag = .random(in: 0...45, using: &random)
            // No wave has the last.
            let zones = hours.keys.sorted() + ["", "Z"]
            devices = try (0..<10).map {
                try Zones.device(
                    "r\(round)-\($0)", 100 * round + $0, zone: zones.randomElement(using: &random)!, tags: ["r\(round)"])
            }
            reports = devices.flatMap { device in
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    Report(
                        minute: .random(in: 1...70 * 60, using: &random), device: device.id.text,
                        zone: zones.randomElement(using: &random)!)
                }
            }.sorted { $0.minute < $1.minute }
        }

        /// How often each device was reached.
        func run(_ storage: HubStorage) async throws -> [String: Int] {
            for device in devices { _ = try await storage.devices.upsert(device, in: Sample.hub, at: Sample.start) }
            let round = devices[0].tags[0].text
            // The devices that are in no zone yet are due in between.
            _ = try await storage.intake.accept(try Zones.send(to: round, hours, otherwise: 50, isNarrow: isNarrow))
            var reached: [String: Int] = [:]
            var rest = reports[...]
            for minute in 1...80 * 60 {
                let now = Sample.time(Int64(minute) * 60)
                while let report = rest.first, report.minute == minute {
                    rest.removeFirst()
                    var device = try #require(devices.first { $0.id.text == report.device })
                    device.timeZone = report.zone
                    _ = try await storage.devices.upsert(device, in: Sample.hub, at: now)
                }
                if minute % 60 == 30 { _ = try await storage.devices.settleZones(at: now, limit: 100) }
                guard (Set(hours.values).union([50])).contains(where: { $0 * 60 + lag == minute }) else { continue }
                for name in try await Zones.wave(at: now, storage) { reached[name, default: 0] += 1 }
            }
            return reached
        }
    }
}
