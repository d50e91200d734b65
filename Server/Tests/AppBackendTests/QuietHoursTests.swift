import AppBackend
import CalendarTime
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("Sends in quiet hours")
struct QuietHoursTests {
    /// A backend at three in the night in UTC, with quiet hours from ten to eight; it is noon in Tokyo.
    private static func backend(_ hours: String = "22:00-08:00") async throws -> TestBackend {
        let quiet = try #require(QuietHours(hours))
        let test = try await TestBackend {
            $0.quietHours = quiet
            $0.quietHoursZone = "UTC"
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
