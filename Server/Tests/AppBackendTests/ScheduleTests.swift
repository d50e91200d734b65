import AppBackend
import CalendarTime
import Foundation
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@Suite("Sends that are due later")
struct ScheduleTests {
    /// What a clock in a zone shows so long from now.
    private static func local(_ test: TestBackend, after delay: Duration, zone: TimeZoneRules = .utc) -> String {
        zone.local(atSeconds: (test.clock.now + delay).seconds).description
    }

    private static func request(_ audience: String? = nil, _ change: (inout ScheduleRequest) -> Void) -> ScheduleRequest {
        var notification = SendRequest(message: "Later")
        notification.audience = audience
        var request = ScheduleRequest(notification)
        change(&request)
        return request
    }

    private static func once(_ test: TestBackend, after delay: Duration, to audience: String? = nil) -> ScheduleRequest {
        request(audience) { $0.sendAt = test.clock.now + delay }
    }

    private static func daily(_ test: TestBackend, after delay: Duration, _ parts: String = "") -> ScheduleRequest {
        request {
            ($0.localTime, $0.timeZone, $0.recurrence) = (local(test, after: delay), "UTC", "FREQ=DAILY" + parts)
        }
    }

    @Test("a scheduled send leaves when it is due, with the number and the moment of then")
    func once() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let schedule = try await test.backend.schedule(Self.once(test, after: .seconds(3600)), for: ann)
        #expect(schedule.state == "waiting" && schedule.next == [test.clock.now + .seconds(3600)])
        let first = try await test.send(ann)
        test.clock.advance(by: .seconds(3599))
        try await test.upkeep.work()
        #expect(try await test.inbox(ann) == [first])
        test.clock.advance(by: .seconds(1))
        try await test.upkeep.work()
        let found = try await test.backend.schedule(schedule.id, for: ann)
        let id = try #require(found.lastSend)
        #expect(try await test.inbox(ann) == [id, first])
        #expect(try await test.backend.details(ofSend: id, for: ann).dueAt == test.clock.now)
        #expect(found.state == "ended" && found.sent == 1 && found.next == [])
        #expect(test.hub.sends.count == 2)
        try await test.upkeep.work()
        #expect(test.hub.sends.count == 2)
        let entry = try #require(try await test.audit().last { $0.action == "send.accepted" })
        #expect(entry.details?.contains("schedule=\(schedule.id) ") == true)
        #expect(entry.actor == "ann local")
    }

    @Test("a content waits as long as its schedule, and is sent with it")
    func content() async throws {
        let test = try await TestBackend { $0.stagedLifetime = .seconds(600) }
        let ann = try await test.user("ann")
        let content = try await test.store(ann)
        var request = Self.once(test, after: .seconds(86_400))
        request.notification.contentID = content
        let schedule = try await test.backend.schedule(request, for: ann)
        test.clock.advance(by: .seconds(86_400))
        try await test.upkeep.sweep()
        try await test.upkeep.work()
        let id = try #require(try await test.backend.schedule(schedule.id, for: ann).lastSend)
        #expect(try await test.content(of: id, for: ann) == Sample.png)
    }

    @Test("a link is stored once, however many sends come of its schedule, and goes when the last is gone")
    func link() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var request = Self.daily(test, after: .seconds(60), ";COUNT=2")
        request.notification.link = "https://example.org/"
        let schedule = try await test.backend.schedule(request, for: ann)
        #expect(try await test.rows(of: "contents") == 1)
        for _ in 0..<2 {
            test.clock.advance(by: .seconds(86_400))
            try await test.upkeep.work()
        }
        #expect(try await test.backend.schedule(schedule.id, for: ann).sent == 2)
        #expect(try await test.rows(of: "contents") == 1)
        let sends = try await test.inbox(ann)
        #expect(sends.count == 2)
        for id in sends {
            #expect(String(decoding: try await test.content(of: id, for: ann), as: UTF8.self) == "https://example.org/\r\n")
        }
        for id in sends { try await test.backend.recall(id, for: ann) }
        test.clock.advance(by: .seconds(1))
        try await test.upkeep.sweep()
        #expect(try await test.rows(of: "contents") == 0)
    }

    @Test("a schedule that recurs sends on each date until its rule ends, without those that are left out")
    func recurs() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var request = Self.daily(test, after: .seconds(60), ";COUNT=5")
        request.except = [String(Self.local(test, after: .seconds(60 + 2 * 86_400)).prefix(10))]
        let schedule = try await test.backend.schedule(request, for: ann)
        let first = try #require(schedule.next.first)
        #expect(schedule.next == [0, 1, 3, 4].map { first + .seconds($0 * 86_400) })
        var moments: [Timestamp] = []
        for _ in 0..<(5 * 24) {
            test.clock.advance(by: .seconds(3600))
            try await test.upkeep.work()
            let found = try await test.backend.schedule(schedule.id, for: ann)
            if found.sent > moments.count { moments.append(test.clock.now) }
        }
        #expect(moments.allSatisfy { ($0 - first) < .seconds(4 * 86_400 + 3600) })
        let found = try await test.backend.schedule(schedule.id, for: ann)
        #expect(found.state == "ended" && found.sent == 4 && found.missed == 0)
    }

    @Test("after a pause of days the latest occurrence is sent, and the others are counted as missed")
    func pause() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let daily = try await test.backend.schedule(Self.daily(test, after: .seconds(60)), for: ann)
        var request = Self.daily(test, after: .seconds(60))
        request.expiresAfterSeconds = 3600
        let expiring = try await test.backend.schedule(request, for: ann)
        let single = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann)
        var late = Self.once(test, after: .seconds(60))
        late.notification.expiresAt = test.clock.now + .seconds(120)
        let expired = try await test.backend.schedule(late, for: ann)
        test.clock.advance(by: .seconds(3 * 86_400 + 7200))
        try await test.upkeep.work()
        let counts = try await [daily, expiring, single, expired].asyncMap { schedule in
            let found = try await test.backend.schedule(schedule.id, for: ann)
            return "\(found.state) \(found.sent) \(found.missed)"
        }
        #expect(counts == ["waiting 1 3", "waiting 0 4", "ended 1 0", "ended 0 1"])
        test.clock.advance(by: .seconds(86_400))
        try await test.upkeep.work()
        #expect(try await test.backend.schedule(daily.id, for: ann).sent == 2)
    }

    @Test("of several nodes that work in turn one sends an occurrence")
    func nodes() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        for _ in 0..<5 { _ = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann) }
        test.clock.advance(by: .seconds(60))
        for node in [BackendUpkeep(of: test.backend), test.upkeep, BackendUpkeep(of: test.backend)] { try await node.work() }
        #expect(try await test.inbox(ann).count == 5)
        #expect(test.hub.sends.count == 5)
        let list = try await test.backend.schedules(for: ann)
        #expect(list.schedules.allSatisfy { $0.sent == 1 && $0.state == "ended" })
    }

    @Test("a change replaces what is sent and when; a cancelled one is not sent")
    func changes() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (changed, cancelled) = (
            try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann),
            try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann)
        )
        var request = Self.once(test, after: .seconds(600))
        request.notification.message = "Changed"
        #expect(try await test.backend.changeSchedule(changed.id, to: request, for: ann).next == [test.clock.now + .seconds(600)])
        try await test.backend.cancelSchedule(cancelled.id, for: ann)
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        #expect(try await test.inbox(ann) == [])
        test.clock.advance(by: .seconds(540))
        try await test.upkeep.work()
        #expect(try await test.backend.inbox(for: ann).notifications.map(\.message) == ["Changed"])
        let over = [changed.id, cancelled.id]
        for id in over {
            #expect(await code { try await test.backend.cancelSchedule(id, for: ann) } == .notFound)
            let again = Self.once(test, after: .seconds(600))
            #expect(await code { _ = try await test.backend.changeSchedule(id, to: again, for: ann) } == .conflict)
        }
        let actions = try await test.audit().filter { $0.action.hasPrefix("schedule.") }.map { "\($0.action) \($0.object ?? "")" }
        let made = over.map { "schedule.created \($0)" }
        #expect(Set(actions) == Set(made + ["schedule.changed \(over[0])", "schedule.ended \(over[1])"]))
        #expect(actions.count == 4)
    }

    @Test("a retry with the same key gets the first schedule, also when it is over, and another request is refused")
    func retry() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(ann)
        var request = Self.once(test, after: .seconds(60))
        request.notification.contentID = content
        let first = try await test.backend.schedule(request, idempotencyKey: "k", for: ann)
        #expect(try await test.backend.schedule(request, idempotencyKey: "k", for: ann) == first)
        var other = request
        other.sendAt = test.clock.now + .seconds(61)
        #expect(await code { _ = try await test.backend.schedule(other, idempotencyKey: "k", for: ann) } == .idempotencyMismatch)
        test.clock.advance(by: .seconds(61))
        try await test.upkeep.work()
        let last = try await test.backend.schedule(request, idempotencyKey: "k", for: ann)
        #expect(last.id == first.id && last.state == "ended")
        #expect(test.hub.sends.count == 1)
    }

    @Test("what the owner may not do when it is due is not done for them, and the schedule says so")
    func rights() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let lowered = try await test.backend.schedule(Self.once(test, after: .seconds(60), to: "news"), for: ann)
        let disabled = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: bob)
        let key = try await test.key("shop", "send:shop:")
        let shop = try await test.signIn(with: key)
        let byKey = try await test.backend.schedule(Self.once(test, after: .seconds(60), to: "shop:news"), for: shop)
        let byEnded = try await test.backend.schedule(Self.once(test, after: .seconds(120), to: "shop:news"), for: shop)
        #expect(
            await code { _ = try await test.backend.schedule(Self.once(test, after: .seconds(60), to: "news"), for: shop) }
                == .forbidden)
        try await test.backend.setRole(.user, ofUser: "ann")
        try await test.backend.changeUser(name: "bob", role: nil, tags: nil, password: nil, isDisabled: true)
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        try await test.backend.revokeKey(key.id)
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        let root = try await test.user("root", .admin)
        let faults = try await [lowered, disabled, byKey, byEnded].asyncMap { schedule in
            let found = try await test.backend.schedule(schedule.id, for: root)
            return "\(found.state): \(found.fault ?? "")"
        }
        #expect(
            faults == [
                "failed: your role sends to your own devices only", "failed: the user whose send it is was removed or disabled",
                "ended: ", "failed: the service key whose send it is has ended",
            ])
        #expect(test.hub.sends.count == 1)
    }

    @Test("a send that fails for a passing reason is tried again, and the reason is shown meanwhile")
    func passing() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let schedule = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann)
        let first = try await test.send(ann)
        // The transaction that accepts the send fails while the numbers are used up.
        func setLastNumber(_ number: Int32) async throws {
            let update = SQLStatement("UPDATE backend_counters SET last_number = $1 WHERE name = 'notification'")
            _ = try await test.database.write { try $0.run(update, [.integer(Int64(number))]) }
        }
        try await setLastNumber(.max)
        test.clock.advance(by: .seconds(60))
        #expect(try await test.upkeep.work() == 1)
        let waiting = try await test.backend.schedule(schedule.id, for: ann)
        #expect(waiting.state == "waiting" && waiting.sent == 0 && waiting.fault?.contains("numbers") == true)
        #expect(try await test.upkeep.work() == 0, "not at once")
        try await setLastNumber(first.number)
        test.clock.advance(by: .seconds(2))
        try await test.upkeep.work()
        let sent = try await test.backend.schedule(schedule.id, for: ann)
        #expect(sent.state == "ended" && sent.sent == 1 && sent.fault == nil)
        #expect(test.hub.sends.count == 2)
    }

    @Test(
        "a schedule that cannot be read waits and says so, and keeps no other and no send from going out",
        arguments: ["request", "audience"])
    func unreadable(column: String) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let broken = try await test.backend.schedule(Self.once(test, after: .seconds(60), to: "news"), for: ann)
        let sound = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann)
        func set(_ text: String) async throws -> String {
            try await test.database.write { connection in
                let read = SQLStatement(composed: "SELECT \(column) FROM schedules WHERE schedule_id = $1")
                let update = SQLStatement(composed: "UPDATE schedules SET \(column) = $2 WHERE schedule_id = $1")
                let old = try connection.row(read, [.integer(broken.id)])?.text(0) ?? ""
                _ = try connection.run(update, [.integer(broken.id), .text(text)])
                return old
            }
        }
        let stored = try await set("{")
        test.hub.failNext(.before(ServiceError(.storageUnavailable)))
        _ = await code { _ = try await test.send(ann) }
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        #expect(try await test.backend.schedule(sound.id, for: ann).state == "ended")
        #expect(test.hub.sends.count == 2, "the one of the other schedule, and the one that the hub had not taken")
        let waiting = try #require(try await test.backend.schedules(for: ann).schedules.first { $0.id == broken.id })
        #expect(waiting.state == "waiting")
        #expect(waiting.fault == "this version of the server cannot read the schedule")
        _ = try await set(stored)
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        #expect(try await test.backend.schedule(broken.id, for: ann).sent == 1)
    }

    @Test("a round in which no schedule can be read hands over what was accepted, and says that it failed")
    func failingRound() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann)
        let damage = SQLStatement("UPDATE schedules SET owner_name = 'no name!'")
        _ = try await test.database.write { try $0.run(damage, []) }
        test.hub.failNext(.before(ServiceError(.storageUnavailable)))
        _ = await code { _ = try await test.send(ann) }
        test.clock.advance(by: .seconds(60))
        await #expect(throws: (any Error).self) { try await test.upkeep.work() }
        #expect(test.hub.sends.count == 1)
    }

    @Test("a schedule is seen and changed by its owner, read by those who read all sends, and cancelled by an admin")
    func access() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (root, eve) = (try await test.user("root", .admin), try await test.user("eve", .auditor))
        let id = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann).id
        let request = Self.once(test, after: .seconds(60))
        #expect(await code { _ = try await test.backend.schedule(id, for: bob) } == .notFound)
        #expect(await code { try await test.backend.cancelSchedule(id, for: bob) } == .notFound)
        for other in [bob, root] {
            #expect(await code { _ = try await test.backend.changeSchedule(id, to: request, for: other) } == .notFound)
        }
        #expect(await code { _ = try await test.backend.schedule(request, for: eve) } == .forbidden)
        #expect(try await test.backend.schedules(for: bob).schedules == [])
        #expect(try await test.backend.schedules(for: eve).schedules.map(\.id) == [id])
        #expect(try await test.backend.schedule(id, for: eve).sender == "ann")
        #expect(await code { _ = try await test.backend.schedules(sender: "ann", for: bob) } == .notFound)
        try await test.backend.cancelSchedule(id, for: root)
        #expect(try await test.backend.schedule(id, for: ann).state == "cancelled")
    }

    @Test("pages of schedules go on where the one before ended")
    func pages() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var ids: [Int64] = []
        for _ in 0..<5 { ids.append(try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann).id) }
        var (found, next) = ([Int64](), String?.none)
        repeat {
            let page = try await test.backend.schedules(before: next, limit: 2, for: ann)
            found += page.schedules.map(\.id)
            next = page.next
        } while next != nil
        #expect(found == ids.reversed())
        #expect(await code { _ = try await test.backend.schedules(before: "x", for: ann) } == .invalidField)
    }

    @Test("a user has a bounded number that wait")
    func quota() async throws {
        let test = try await TestBackend { $0.waitingSchedules = 2 }
        let ann = try await test.user("ann")
        for _ in 0..<2 { _ = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann) }
        let request = Self.once(test, after: .seconds(60))
        #expect(await code { _ = try await test.backend.schedule(request, for: ann) } == .quotaExceeded)
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        _ = try await test.backend.schedule(Self.once(test, after: .seconds(60)), for: ann)
    }

    @Test("schedules follow the zone's rules when those change before they are due")
    func zoneChanges() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func install(_ zone: String, _ version: String) throws {
            let file = URL(filePath: TimeZoneDatabase.systemDirectory).appending(path: zone)
            try Data(contentsOf: file).write(to: folder.appending(path: "Zone"))
            try Data("# version \(version)\n".utf8).write(to: folder.appending(path: "tzdata.zi"))
        }
        try install("Etc/GMT-2", "2026a")
        let test = try await TestBackend(zones: TimeZoneDatabase(directory: folder.path))
        let ann = try await test.user("ann")
        let two = try #require(TimeZoneDatabase().zone("Etc/GMT-2"))
        let request = Self.request {
            ($0.localTime, $0.timeZone) = (Self.local(test, after: .seconds(7200), zone: two), "Zone")
        }
        let schedule = try await test.backend.schedule(request, for: ann)
        try await test.upkeep.sweep()
        let due = try #require(schedule.next.first)
        // The zone moves west by an hour: its clocks show the time an hour later.
        try install("Etc/GMT-1", "2026b")
        try await test.upkeep.sweep()
        #expect(try await test.backend.schedule(schedule.id, for: ann).next == [due + .seconds(3600)])
        test.clock.advance(by: .seconds(7200))
        try await test.upkeep.work()
        #expect(test.hub.sends.count == 0)
        // And back: it is due at once.
        try install("Etc/GMT-2", "2026c")
        try await test.upkeep.sweep()
        try await test.upkeep.work()
        #expect(test.hub.sends.count == 1)
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

/// What a schedule may not say.
@Suite("Schedules that are refused")
struct ScheduleRefusalTests {
    @Test("a wrong schedule is refused with the field that is wrong, and nothing is stored")
    func refused() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let now = test.clock.now
        let soon = TimeZoneRules.utc.local(atSeconds: now.seconds + 3600).description
        typealias Case = (field: String, change: (inout ScheduleRequest) -> Void)
        func at(_ moment: Timestamp?, _ field: String = "sendAt", _ change: @escaping (inout ScheduleRequest) -> Void = { _ in })
            -> Case
        {
            (
                field,
                {
                    $0.sendAt = moment; change(&$0)
                }
            )
        }
        func local(_ field: String, _ change: @escaping (inout ScheduleRequest) -> Void) -> Case {
            (
                field,
                {
                    ($0.localTime, $0.timeZone) = (soon, "Europe/Berlin"); change(&$0)
                }
            )
        }
        func daily(_ field: String, _ change: @escaping (inout ScheduleRequest) -> Void) -> Case {
            local(field) {
                $0.recurrence = "FREQ=DAILY"; change(&$0)
            }
        }
        let cases = [
            at(nil), at(now), at(now - .seconds(1)), at(Timestamp(milliseconds: .max)), at(Timestamp(milliseconds: .min)),
            at(now + .seconds(3 * 366 * 86_400)), at(nil) { $0.timeZone = "UTC" },
            local("sendAt") { $0.sendAt = now + .seconds(60) },
            local("timeZone") { $0.timeZone = nil }, local("timeZone") { $0.timeZone = "Europe/Atlantis" },
            local("timeZone") { $0.timeZone = "../../../etc/passwd" }, local("localTime") { $0.localTime = "tomorrow" },
            local("localTime") { $0.localTime = "2011-01-01T00:00" }, local("localTime") { $0.localTime = "9999-12-31T23:59:59" },
            local("localTime") { $0.recurrence = "FREQ=DAILY;UNTIL=20110101" },
            local("localTime") { $0.recurrence = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" },
            local("repeat") { $0.recurrence = "FREQ=HOURLY" }, local("except") { $0.except = ["2030-01-01"] },
            daily("except") { $0.except = ["1 January"] },
            daily("except") { $0.except = Array(repeating: "2030-01-01", count: 101) },
            local("expiresAfterSeconds") { $0.expiresAfterSeconds = 59 },
            local("expiresAfterSeconds") {
                ($0.expiresAfterSeconds, $0.notification.expiresAt) = (60, now + .seconds(86_400))
            },
            daily("notification.expiresAt") { $0.notification.expiresAt = now + .seconds(9000) },
            at(now + .seconds(60), "expiresAt") { $0.notification.expiresAt = now + .seconds(60) },
            local("message") { $0.notification.message = "" }, local("notification.kind") { $0.notification.kind = .sealed },
        ]
        for (index, (field, change)) in cases.enumerated() {
            var request = ScheduleRequest(SendRequest(message: "Later"))
            change(&request)
            let found = await refusal { [request] in _ = try await test.backend.schedule(request, for: ann) }
            #expect(found?.code == .invalidField, "\(index) \(field): \(String(describing: found))")
            #expect(found?.detail?.hasPrefix(field + ":") == true, "\(index) \(field): \(found?.detail ?? "")")
        }
        #expect(try await test.rows(of: "schedules") == 0)
    }
}
