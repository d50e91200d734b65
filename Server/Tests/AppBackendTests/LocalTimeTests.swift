import AppBackend
import CalendarTime
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("Sends that are due by the clocks of the devices")
struct LocalTimeTests {
    private static let zones = TimeZoneDatabase()

    /// A date and a time of day, so long from now in UTC.
    private static func time(_ test: TestBackend, after delay: Duration) -> String {
        TimeZoneRules.utc.local(atSeconds: (test.clock.now + delay).seconds).description
    }

    private static func moment(of time: String, in zone: String) throws -> Timestamp {
        let wish = try #require(LocalDateTime(time))
        let rules = try #require(zones.zone(zone))
        return Timestamp(seconds: try #require(rules.seconds(of: wish)))
    }

    private static func request(
        _ time: String, to audience: String = "news", _ change: (inout ScheduleRequest) -> Void = { _ in }
    ) -> ScheduleRequest {
        var notification = SendRequest(message: "Good morning")
        notification.audience = audience
        var request = ScheduleRequest(notification)
        (request.localTime, request.timeZone, request.fallbackTimeZone) = (time, "device", "Europe/Berlin")
        change(&request)
        return request
    }

    private func cause(_ test: TestBackend, _ send: RichID, _ user: String) async throws -> String {
        try await test.backend.explain(send, toUser: user, for: try await test.admin()).finding.cause
    }

    @Test("the hub learns the zones of devices, but none that the tz database does not have")
    func zones() async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        try await test.phone("bob", 2, zone: "Atlantis/Capital")
        try await test.phone("eve", 3, zone: nil)
        let found = test.hub.devices.values.reduce(into: [:]) { $0[$1.id.text] = $1.timeZone }
        #expect(found == ["phone-ann": "Asia/Tokyo", "phone-bob": "", "phone-eve": ""])
    }

    @Test("a schedule by device becomes one send when the time begins in the first zone, due in each zone at its own moment")
    func sends() async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        try await test.phone("bob", 2, zone: "America/New_York")
        try await test.phone("eve", 3, zone: nil)
        let sender = try await test.user("sender")
        let time = Self.time(test, after: .seconds(2 * 86_400))
        let asked = test.clock.now
        let schedule = try await test.backend.schedule(Self.request(time), for: sender)
        let start = test.clock.now + .seconds(2 * 86_400 - 14 * 3600)
        #expect(schedule.next == [start] && schedule.nextLocal == [time])
        test.clock.advance(by: start - asked - .seconds(1))
        try await test.upkeep.work()
        #expect(test.hub.sends.isEmpty)
        test.clock.advance(by: .seconds(1))
        try await test.upkeep.work()
        let found = try await test.backend.schedule(schedule.id, for: sender)
        #expect(found.state == "ended" && found.sent == 1)
        let command = try #require(test.hub.sends.first?.command)
        #expect(test.hub.sends.count == 1)
        #expect(
            command.zones?.moments == [
                "Asia/Tokyo": try Self.moment(of: time, in: "Asia/Tokyo"),
                "America/New_York": try Self.moment(of: time, in: "America/New_York"),
            ])
        #expect(command.zones?.otherwise == (try Self.moment(of: time, in: "Europe/Berlin")))
        #expect(command.zones?.notBefore == asked && command.zones?.lifetime == nil)
        let id = try #require(found.lastSend)
        let status = try await test.backend.status(of: id, for: sender)
        let shown = status.localTimes?.map { "\($0.timeZones) \($0.includesOtherZones) \($0.isOver)" }
        #expect(shown == [#"["Asia/Tokyo"] false false"#, "[] true false", #"["America/New_York"] false false"#])
        #expect(try await test.backend.sends(for: sender).sends.first?.status?.localTimes == nil)
    }

    @Test("one that is asked for while it is that time somewhere is sent at once, and says what had passed")
    func begun() async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        try await test.phone("bob", 2, zone: "America/New_York")
        let sender = try await test.user("sender")
        // It has been that time in Tokyo for eight hours, and takes six more in New York.
        let time = Self.time(test, after: .seconds(3600))
        let schedule = try await test.backend.schedule(Self.request(time), for: sender)
        try await test.upkeep.work()
        let found = try await test.backend.schedule(schedule.id, for: sender)
        let id = try #require(found.lastSend)
        let zones = try #require(test.hub.sends.first?.command.zones)
        #expect(zones.notBefore == test.clock.now)
        #expect(try #require(zones.moments["Asia/Tokyo"]) < zones.notBefore)
        #expect(try #require(zones.moments["America/New_York"]) > zones.notBefore)
        #expect(try await cause(test, id, "bob") == "waiting-for-local-time")
        #expect(try await cause(test, id, "ann") == "accepted")
        test.hub.expirePushes()
        #expect(try await cause(test, id, "ann") == "local-time-passed")
        test.clock.advance(by: .seconds(86_400))
        #expect(try await cause(test, id, "bob") == "expired")
    }

    @Test("the status warns when the time had passed for all devices, and not for some of them", arguments: [false, true])
    func warns(hasLater: Bool) async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        if hasLater { try await test.phone("bob", 2, zone: "America/New_York") }
        let sender = try await test.user("sender")
        let schedule = try await test.backend.schedule(Self.request(Self.time(test, after: .seconds(3600))), for: sender)
        try await test.upkeep.work()
        let id = try #require(try await test.backend.schedule(schedule.id, for: sender).lastSend)
        let warnings = try await test.backend.status(of: id, for: sender).warnings ?? []
        #expect(warnings.contains { $0.hasPrefix("the local time had passed") } != hasLater)
    }

    @Test("one whose time has passed everywhere is refused")
    func over() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        // It is that time in the last zone, UTC-12, twelve hours after UTC.
        let early = Self.request(Self.time(test, after: .seconds(-12 * 3600 + 60)))
        _ = try await test.backend.schedule(early, for: sender)
        let late = Self.request(Self.time(test, after: .seconds(-12 * 3600)))
        #expect(await code { _ = try await test.backend.schedule(late, for: sender) } == .invalidField)
    }

    @Test("what is scheduled daily is one send a day, and each may be read until it has expired in the last zone")
    func daily() async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        let sender = try await test.user("sender")
        let time = Self.time(test, after: .seconds(86_400))
        let request = Self.request(time) { ($0.recurrence, $0.expiresAfterSeconds) = ("FREQ=DAILY;COUNT=3", 3600) }
        let schedule = try await test.backend.schedule(request, for: sender)
        #expect(schedule.nextLocal?.count == 3)
        let start = test.clock.now
        for _ in 0..<(5 * 24) {
            test.clock.advance(by: .seconds(3600))
            try await test.upkeep.work()
        }
        #expect(try await test.backend.schedule(schedule.id, for: sender).sent == 3)
        let zones = test.hub.sends.compactMap(\.command.zones)
        let first = try Self.moment(of: time, in: "Asia/Tokyo")
        #expect(zones.map { $0.moments["Asia/Tokyo"] } == [0, 1, 2].map { first + .seconds($0 * 86_400) })
        #expect(zones.allSatisfy { $0.lifetime == .seconds(3600) })
        #expect(test.hub.sends.allSatisfy { $0.command.message.expiresAt == nil })
        let expiry = try await test.store.sends(SendListQuery(by: .number(below: nil), limit: 3)).map(\.expiresAt)
        #expect(expiry.last == start + .seconds(86_400 + 12 * 3600 + 3600))
    }

    @Test("a change counts as asking anew: what had passed by then is not sent")
    func changed() async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        let sender = try await test.user("sender")
        let schedule = try await test.backend.schedule(
            Self.request(Self.time(test, after: .seconds(9 * 86_400))), for: sender)
        test.clock.advance(by: .seconds(86_400))
        let asked = test.clock.now
        let changed = Self.request(Self.time(test, after: .seconds(3600)))
        _ = try await test.backend.changeSchedule(schedule.id, to: changed, for: sender)
        try await test.upkeep.work()
        #expect(test.hub.sends.first?.command.zones?.notBefore == asked)
    }

    @Test("a send that the hub did not confirm is handed over again with the same wish")
    func retried() async throws {
        let test = try await TestBackend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        let sender = try await test.user("sender")
        let request = Self.request(Self.time(test, after: .seconds(3600)))
        _ = try await test.backend.schedule(request, for: sender)
        test.hub.failNext(.before(ServiceError(.storageUnavailable)))
        for _ in 0..<3 {
            try await test.upkeep.work()
            test.clock.advance(by: .seconds(600))
        }
        #expect(test.hub.sends.count == 1)
        #expect(test.hub.sends.first?.command.zones?.moments.count == 1)
    }

    @Test("where the hub knows no zones, a schedule by device is refused when it is asked for")
    func elsewhere() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        test.hub.refuseCounts(ServiceError(.conflict, "the hub elsewhere does not know the time zones of devices"))
        let request = Self.request(Self.time(test, after: .seconds(3600)))
        #expect(await code { _ = try await test.backend.schedule(request, for: sender) } == .conflict)
    }

    @Test(
        "the zone of other devices goes with the time zone device alone, and has to be known",
        arguments: [
            ("Europe/Berlin", "UTC", "2030-01-01T09:00"), ("device", "Atlantis", "2030-01-01T09:00"), (nil, "UTC", nil),
            ("device", nil, "9 o'clock"),
        ] as [(String?, String?, String?)])
    func refused(zone: String?, fallback: String?, time: String?) async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let request = Self.request("") {
            ($0.timeZone, $0.fallbackTimeZone, $0.localTime) = (zone, fallback, time)
            if time == nil { $0.sendAt = test.clock.now + .seconds(60) }
        }
        #expect(await code { _ = try await test.backend.schedule(request, for: sender) } == .invalidField)
    }
}
