import CalendarTime
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Sends in quiet hours")
struct QuietHoursTests {
    /// A backend at three in the night in UTC, with quiet hours from ten to eight; it is noon in Tokyo.
    private static func backend(_ hours: String? = "22:00-08:00", userHours: Bool = false) async throws -> TestBackend {
        let quiet = try hours.map { try #require(QuietHours($0)) }
        let test = try await TestBackend {
            $0.quietHours = quiet
            $0.quietHoursZone = "UTC"
            $0.userQuietHours = userHours
        }
        let second = test.clock.now.seconds % 86_400
        test.clock.advance(by: .seconds((86_400 + 3 * 3600 - second) % 86_400))
        return test
    }

    private func moments(_ test: TestBackend) throws -> ZoneMoments {
        try #require(test.hub.sends.last?.command.zones)
    }

    @Test("where it is quiet a send waits until that ends, and elsewhere it leaves at once")
    func waits() async throws {
        let test = try await Self.backend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        try await test.phone("bob", 2, zone: "Africa/Abidjan")
        try await test.phone("eve", 3, zone: nil)
        let sender = try await test.user("sender")
        let now = test.clock.now
        let id = try await test.send(sender, to: "news")
        let zones = try moments(test)
        #expect(zones.moments == ["Asia/Tokyo": now, "Africa/Abidjan": now + .seconds(5 * 3600)])
        #expect(zones.otherwise == now + .seconds(5 * 3600) && zones.notBefore == now)
        let root = try await test.admin()
        let finding = try await test.backend.explain(id, toUser: "bob", for: root).finding
        #expect(finding.cause == "quiet-hours" && finding.at == now + .seconds(5 * 3600))
        #expect(try await test.backend.explain(id, toUser: "ann", for: root).finding.cause != "quiet-hours")
        _ = try await test.send(sender, to: "username:ann")
        #expect(try moments(test).otherwise == nil, "it is over when the devices there have it")
    }

    @Test("a user's own hours hold on each device by its clock, and for that user alone")
    func ownHours() async throws {
        let test = try await Self.backend(nil, userHours: true)
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        try await test.phone("bob", 2, zone: "Africa/Abidjan")
        try await test.phone("eve", 3, zone: nil)
        for name in ["ann", "eve"] { try await test.backend.setQuietHours("22:00-06:30", ofUser: name) }
        let sender = try await test.user("sender")
        let (now, end) = (test.clock.now, test.clock.now + .seconds(3 * 3600 + 1800))
        let id = try await test.send(sender, to: "news")
        let zones = try moments(test)
        #expect(
            zones.moments == ["Africa/Abidjan": now, "Africa/Abidjan=22:00-06:30": end, "=22:00-06:30": end])
        let root = try await test.admin()
        let finding = try await test.backend.explain(id, toUser: "ann", for: root).finding
        #expect(finding.cause == "quiet-hours" && finding.at == end)
        #expect(try await test.backend.explain(id, toUser: "bob", for: root).finding.cause != "quiet-hours")
        let shown = try #require(try await test.backend.status(of: id, for: sender).localTimes)
        #expect(shown.map(\.timeZones) == [["Africa/Abidjan"], ["Africa/Abidjan"]])
        _ = try await test.send(sender, to: "username:ann") { $0.transactional = true }
        #expect(test.hub.sends.last?.command.zones == nil)
        try await test.backend.setQuietHours("none", ofUser: "ann")
        test.clock.advance(by: .seconds(28 * 3600))
        _ = try await test.send(sender, to: "username:ann")
        #expect(try moments(test).moments == ["Africa/Abidjan": test.clock.now])
    }

    @Test("where a user's hours end in those of the app, a send waits until it is quiet in neither")
    func bothHours() async throws {
        let test = try await Self.backend(userHours: true)
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        try await test.backend.setQuietHours("07:30-09:00", ofUser: "ann")
        let sender = try await test.user("sender")
        _ = try await test.send(sender, to: "username:ann")
        #expect(try moments(test).moments == ["Africa/Abidjan=07:30-09:00": test.clock.now + .seconds(6 * 3600)])
        try await test.backend.setQuietHours("09:00-03:00", ofUser: "ann")
        test.clock.advance(by: .seconds(28 * 3600))
        _ = try await test.send(sender, to: "username:ann")
        #expect(try moments(test).moments.values.allSatisfy { $0 < test.clock.now + .seconds(24 * 3600) }, "it goes on")
    }

    @Test("a local time in a user's hours moves to their end, and while the setting is off the hours count for nothing")
    func localTimeOfUser() async throws {
        for isOn in [true, false] {
            let test = try await Self.backend(isOn ? nil : "01:00-02:00", userHours: true)
            try await test.phone("ann", 1, zone: "Africa/Abidjan")
            try await test.backend.setQuietHours("05:00-09:30", ofUser: "ann")
            let day = TimeZoneRules.utc.local(atSeconds: (test.clock.now + .seconds(86_400)).seconds).date
            var notification = SendRequest(message: "Early")
            notification.audience = "news"
            var request = ScheduleRequest(notification)
            (request.localTime, request.timeZone) = ("\(day)T06:00", "device")
            let sender = try await test.user("sender")
            var parts = test.backend.parts
            parts.settings.userQuietHours = isOn
            let backend = RichPushBackend(parts: parts)
            _ = try await backend.schedule(request, for: sender)
            test.clock.advance(by: .seconds(86_400))
            try await BackendUpkeep(of: backend).work()
            let six = test.clock.now + .seconds(3 * 3600)
            #expect(try moments(test).moments["Africa/Abidjan=05:00-09:30"] == (isOn ? six + .seconds(3 * 3600 + 1800) : six))
        }
    }

    @Test("hours that change while the hub is updated are those that it has in the end")
    func race() async throws {
        let test = try await Self.backend(nil, userHours: true)
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        let (store, ann) = (test.store, try await test.backend.user("ann"))
        let later = try #require(QuietHours("23:00-05:00"))
        test.hub.duringNextUpsert {
            _ = try? await store.setQuietHours(later, of: ann.id, mark: 1, at: Timestamp(milliseconds: 0), audit: nil)
        }
        try await test.backend.setQuietHours("22:00-06:00", ofUser: "ann")
        let record = try #require(RecordID("phone-ann"))
        #expect(try await test.hub.device(record)?.zone.name == "Africa/Abidjan=23:00-05:00")
    }

    @Test("a device that signs in later has the hours of its user, and another user of it does not")
    func laterDevice() async throws {
        let test = try await Self.backend(nil, userHours: true)
        var update = InstallationUpdate(handle: Sample.handle(1))
        update.timeZone = "Africa/Abidjan"
        let (id, record) = (try #require(InstallationID("phone-1")), try #require(RecordID("phone-1")))
        let ann = try await test.user("ann")
        try await test.backend.setQuietHours("22:00-06:00", ofUser: "ann")
        _ = try await test.backend.putInstallation(id: id, update: update, for: ann)
        #expect(try await test.hub.device(record)?.zone.name == "Africa/Abidjan=22:00-06:00")
        _ = try await test.backend.putInstallation(id: id, update: update, for: try await test.user("bob"))
        #expect(try await test.hub.device(record)?.zone.name == "Africa/Abidjan")
    }

    @Test(
        "hours that are none are refused, and so are any while the setting is off",
        arguments: ["22:15-07:00", "22:00-22:00", "", "late", "22:00-07:00 "])
    func wrongHours(_ text: String) async throws {
        let test = try await Self.backend(nil, userHours: true)
        _ = try await test.user("ann")
        #expect(await code { try await test.backend.setQuietHours(text, ofUser: "ann") } == .invalidField)
        let other = try await Self.backend(nil)
        _ = try await other.user("ann")
        #expect(await code { try await other.backend.setQuietHours("22:00-07:00", ofUser: "ann") } == .conflict)
    }

    @Test("a change of hours that was cut off is finished by the upkeep")
    func cutOff() async throws {
        let test = try await Self.backend(nil, userHours: true)
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        test.hub.failDevices(times: 1)
        #expect(await code { try await test.backend.setQuietHours("22:00-06:00", ofUser: "ann") } != nil)
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        let record = try #require(RecordID("phone-ann"))
        #expect(try await test.hub.device(record)?.zone.name == "Africa/Abidjan=22:00-06:00")
        let entry = try #require(try await test.audit().last { $0.action == "user.changed" })
        #expect(entry.details == "quiet-hours=22:00-06:00")
    }

    @Test("a transactional send, a silent push and a reply are not held back")
    func ignored() async throws {
        let test = try await Self.backend()
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        let sender = try await test.user("sender")
        let first = try await test.send(sender, to: "username:ann") { $0.transactional = true }
        #expect(test.hub.sends.last?.command.zones == nil)
        _ = try await test.send(sender, to: "username:ann") { $0.style = .silent }
        #expect(test.hub.sends.last?.command.zones == nil)
        try await test.backend.reply(Reply(id: "r-1", text: "Yes"), to: first, for: try await test.signIn("ann"))
        #expect(test.hub.sends.count == 3 && test.hub.sends.last?.command.zones == nil)
    }

    @Test("a local time in quiet hours moves to their end, zone by zone")
    func localTime() async throws {
        let test = try await Self.backend()
        try await test.phone("ann", 1, zone: "Asia/Tokyo")
        let sender = try await test.user("sender")
        let day = TimeZoneRules.utc.local(atSeconds: (test.clock.now + .seconds(86_400)).seconds).date
        var notification = SendRequest(message: "Early")
        notification.audience = "news"
        var request = ScheduleRequest(notification)
        (request.localTime, request.timeZone) = ("\(day)T06:30", "device")
        _ = try await test.backend.schedule(request, for: sender)
        test.clock.advance(by: .seconds(86_400))
        try await test.upkeep.work()
        let zone = try #require(TimeZoneDatabase().zone("Asia/Tokyo"))
        let wish = try #require(LocalDateTime("\(day)T08:00"))
        let eight = try #require(zone.seconds(of: wish))
        #expect(try moments(test).moments["Asia/Tokyo"] == Timestamp(seconds: eight))
    }

    @Test("a local time that had passed in quiet hours when it was asked for is not sent when they end")
    func passed() async throws {
        let test = try await Self.backend()
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        try await test.phone("bob", 2, zone: "America/New_York")
        let sender = try await test.user("sender")
        // It is three in the night where one phone is, and ten in the evening where the other is.
        let day = TimeZoneRules.utc.local(atSeconds: test.clock.now.seconds).date
        var notification = SendRequest(message: "Early")
        notification.audience = "news"
        var request = ScheduleRequest(notification)
        (request.localTime, request.timeZone) = ("\(day)T02:30", "device")
        _ = try await test.backend.schedule(request, for: sender)
        try await test.upkeep.work()
        let zones = try moments(test)
        #expect(zones.moments["Africa/Abidjan"] == test.clock.now - .seconds(1800))
        let zone = try #require(TimeZoneDatabase().zone("America/New_York"))
        let wish = try #require(LocalDateTime("\(day)T08:00"))
        let eight = try #require(zone.seconds(of: wish))
        #expect(zones.moments["America/New_York"] == Timestamp(seconds: eight))
    }

    @Test("a send that is handed over late keeps the hours and the moment of its acceptance")
    func late() async throws {
        let test = try await Self.backend()
        try await test.phone("ann", 1, zone: "Africa/Abidjan")
        let sender = try await test.user("sender")
        let now = test.clock.now
        test.hub.failNext(.before(ServiceError(.storageUnavailable)))
        #expect(await code { _ = try await test.send(sender, to: "news") } == .outcomeUnknown)
        test.clock.advance(by: .seconds(6 * 3600))
        try await test.upkeep.work()
        #expect(try moments(test).moments["Africa/Abidjan"] == now + .seconds(5 * 3600))
        #expect(try moments(test).notBefore == now)
    }
}
