import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Sends that another person has to approve")
struct ApprovalTests {
    /// A backend in which a person may send to two devices alone, and an audience of three.
    private static func backend() async throws -> TestBackend {
        let test = try await TestBackend { $0.approvalAbove = 2 }
        for number in 1...3 { try await test.phone("reader-\(number)", number, zone: nil) }
        return test
    }

    private static func proposal(_ change: (inout ScheduleRequest) -> Void = { _ in }) -> ScheduleRequest {
        var notification = SendRequest(message: "Sale")
        notification.audience = "news"
        var request = ScheduleRequest(notification)
        request.approval = true
        change(&request)
        return request
    }

    @Test("a person sends to few devices alone, and a service key to any number")
    func limit() async throws {
        let test = try await Self.backend()
        let sender = try await test.user("sender")
        _ = try await test.send(sender, to: "username:reader-1 || username:reader-2")
        let error = await refusal { _ = try await test.send(sender, to: "news") }
        #expect(error?.code == .approvalRequired)
        #expect(error?.detail?.contains("has 3 devices") == true, "\(error?.detail ?? "none")")
        #expect(await code { _ = try await test.send(try await test.user("root", .admin), to: "news") } == .approvalRequired)
        let later = Self.proposal { ($0.approval, $0.sendAt) = (nil, test.clock.now + .seconds(60)) }
        #expect(await code { _ = try await test.backend.schedule(later, for: sender) } == .approvalRequired)
        let key = try await test.signIn(with: try await test.key("shop", "send"))
        _ = try await test.send(key, to: "news")
        #expect(test.hub.sends.count == 2)
    }

    @Test("a proposal without a time leaves when another person approves it, once")
    func approved() async throws {
        let test = try await Self.backend()
        let (sender, other) = (try await test.user("sender"), try await test.user("other"))
        let made = try await test.backend.schedule(Self.proposal(), for: sender)
        #expect(made.state == "proposed" && made.next.isEmpty && made.approvedBy == nil)
        test.clock.advance(by: .seconds(3_600))
        try await test.upkeep.work()
        #expect(test.hub.sends.isEmpty)
        let seen = try await test.backend.schedules(state: .proposed, for: other).schedules
        #expect(seen.map(\.id) == [made.id])
        let approved = try await test.backend.approveSchedule(made.id, revision: made.revision, for: other)
        #expect(approved.state == "waiting" && approved.approvedBy == "other" && approved.next == [test.clock.now])
        #expect(try await test.backend.schedule(made.id, for: sender).approvedBy == "other")
        #expect(
            await code {
                _ = try await test.backend.approveSchedule(made.id, revision: made.revision, for: other)
            } == .notFound)
        for _ in 0..<2 { try await test.upkeep.work() }
        #expect(test.hub.sends.count == 1)
        #expect(try await test.backend.schedule(made.id, for: sender).state == "ended")
        let entry = try #require(try await test.audit().last { $0.action == "schedule.approved" })
        #expect(entry.actor?.hasPrefix("other ") == true)
        #expect(try await test.backend.schedules(state: .proposed, for: other).schedules.isEmpty)
        try await test.backend.eraseUser(name: "other")
        #expect(try await test.backend.schedule(made.id, for: sender).approvedBy == nil)
    }

    @Test("a proposal with a time is due at that time, or at the next of its rule")
    func times() async throws {
        let test = try await Self.backend()
        let (sender, other) = (try await test.user("sender"), try await test.user("other"))
        let at = test.clock.now + .seconds(7_200)
        let once = try await test.backend.schedule(Self.proposal { $0.sendAt = at }, for: sender)
        #expect(once.next == [at])
        let late = try await test.backend.schedule(Self.proposal { $0.sendAt = test.clock.now + .seconds(60) }, for: sender)
        test.clock.advance(by: .seconds(120))
        #expect(try await test.backend.approveSchedule(once.id, revision: 1, for: other).next == [at])
        let error = await refusal { _ = try await test.backend.approveSchedule(late.id, revision: 1, for: other) }
        #expect(error?.code == .conflict && error?.detail?.contains("time has passed") == true)
        try await test.upkeep.work()
        #expect(test.hub.sends.isEmpty)
        test.clock.advance(by: .seconds(7_200))
        try await test.upkeep.work()
        #expect(test.hub.sends.count == 1)
    }

    @Test("the one who asks cannot approve, nor can a user or an auditor, nor can what was changed since be approved")
    func refused() async throws {
        let test = try await Self.backend()
        let (sender, other) = (try await test.user("sender"), try await test.user("other"))
        let made = try await test.backend.schedule(Self.proposal(), for: sender)
        #expect(await code { _ = try await test.backend.approveSchedule(made.id, revision: 1, for: sender) } == .forbidden)
        for role in [UserRole.user, .auditor] {
            let caller = try await test.user("a-\(role.rawValue)", role)
            #expect(await code { _ = try await test.backend.approveSchedule(made.id, revision: 1, for: caller) } == .forbidden)
        }
        let changed = try await test.backend.changeSchedule(
            made.id, to: Self.proposal { $0.notification.message = "Another sale" }, for: sender)
        #expect(changed.state == "proposed" && changed.revision == 2)
        #expect(await code { _ = try await test.backend.approveSchedule(made.id, revision: 1, for: other) } == .conflict)
        #expect(await code { _ = try await test.backend.approveSchedule(made.id, revision: 3, for: other) } == .conflict)
        #expect(try await test.backend.approveSchedule(made.id, revision: 2, for: other).state == "waiting")
    }

    @Test("a change of what was approved needs another approval")
    func changed() async throws {
        let test = try await Self.backend()
        let (sender, other) = (try await test.user("sender"), try await test.user("other"))
        let at = test.clock.now + .seconds(3_600)
        let made = try await test.backend.schedule(Self.proposal { $0.sendAt = at }, for: sender)
        let approved = try await test.backend.approveSchedule(made.id, revision: 1, for: other)
        let plain = Self.proposal { ($0.sendAt, $0.approval) = (at, nil) }
        #expect(await code { _ = try await test.backend.changeSchedule(made.id, to: plain, for: sender) } == .approvalRequired)
        let again = try await test.backend.changeSchedule(made.id, to: Self.proposal { $0.sendAt = at }, for: sender)
        #expect(again.state == "proposed" && again.approvedBy == nil && again.revision > approved.revision)
        test.clock.advance(by: .seconds(3_700))
        try await test.upkeep.work()
        #expect(test.hub.sends.isEmpty)
    }

    @Test("another sender may look at a proposal and decline it, and sees no other schedule of the one who asked")
    func declined() async throws {
        let test = try await Self.backend()
        let (sender, other, user) = (
            try await test.user("sender"), try await test.user("other"), try await test.user("reader-4", .user)
        )
        let made = try await test.backend.schedule(Self.proposal(), for: sender)
        #expect(try await test.backend.schedule(made.id, for: other).request.notification.message == "Sale")
        #expect(await code { _ = try await test.backend.schedule(made.id, for: user) } == .notFound)
        #expect(await code { try await test.backend.cancelSchedule(made.id, for: user) } == .notFound)
        try await test.backend.cancelSchedule(made.id, for: other)
        #expect(try await test.backend.schedule(made.id, for: sender).state == "cancelled")
        #expect(await code { _ = try await test.backend.schedule(made.id, for: other) } == .notFound)
        #expect(await code { _ = try await test.backend.approveSchedule(made.id, revision: 1, for: other) } == .notFound)
    }

    @Test("without the setting a person may still ask for an approval, and a time stays needed without one")
    func voluntary() async throws {
        let test = try await TestBackend()
        let (sender, other) = (try await test.user("sender"), try await test.user("other"))
        let made = try await test.backend.schedule(Self.proposal(), for: sender)
        #expect(try await test.backend.approveSchedule(made.id, revision: 1, for: other).state == "waiting")
        let error = await refusal { _ = try await test.backend.schedule(Self.proposal { $0.approval = nil }, for: sender) }
        #expect(error?.code == .invalidField && error?.detail?.hasPrefix("sendAt") == true)
    }

    @Test("proposals count for the number of schedules that one may have")
    func quota() async throws {
        let test = try await TestBackend { $0.waitingSchedules = 2 }
        let sender = try await test.user("sender")
        for _ in 0..<2 { _ = try await test.backend.schedule(Self.proposal(), for: sender) }
        #expect(await code { _ = try await test.backend.schedule(Self.proposal(), for: sender) } == .quotaExceeded)
    }
}
