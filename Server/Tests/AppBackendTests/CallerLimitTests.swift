import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Limits for one user")
struct CallerLimitTests {
    @Test("of sends hold for each user alone and by role, say when to come back, and spare repeats")
    func sends() async throws {
        let test = try await TestBackend {
            $0.userSendsPerMinute = 3
            $0.senderSendsPerMinute = 6
        }
        let (ann, bob, sam) = (
            try await test.user("ann", .user), try await test.user("bob", .user), try await test.user("sam", .sender)
        )
        let first = try await test.send(ann, key: "one")
        for _ in 0..<2 { _ = try await test.send(ann) }
        let refused = try #require(await refusal { _ = try await test.send(ann) })
        #expect(refused.code == .tooManyRequests)
        #expect(refused.retryAfter == 20)
        #expect(try await test.send(ann, key: "one") == first, "a repeat is no new send")
        let text = await refusal { _ = try await test.backend.sendText("x", platform: "apns", toUser: "ann", for: ann) }
        #expect(text?.code == .tooManyRequests)
        _ = try await test.send(bob)
        for _ in 0..<6 { _ = try await test.send(sam) }
        #expect(await refusal { _ = try await test.send(sam) }?.code == .tooManyRequests)
        test.clock.advance(by: .seconds(20))
        _ = try await test.send(ann)
        #expect(await refusal { _ = try await test.send(ann) }?.code == .tooManyRequests)
    }

    @Test("of replies are those of sends")
    func replies() async throws {
        let test = try await TestBackend { $0.userSendsPerMinute = 1 }
        let (sam, ann) = (try await test.user("sam", .sender), try await test.user("ann", .user))
        try await test.register(ann, handle: 1)
        let id = try await test.send(sam, to: "username:ann")
        try await test.backend.reply(Reply(id: "r1", text: "yes"), to: id, for: ann)
        let refused = await refusal { try await test.backend.reply(Reply(id: "r2", text: "no"), to: id, for: ann) }
        #expect(refused?.code == .tooManyRequests)
        let (phone, _) = try await test.install(ann, "phone", handle: 2)
        #expect(await code { try await test.backend.reply(Reply(id: "r3", text: "no"), to: id, for: phone) } == .tooManyRequests)
    }

    @Test("the memory of sends is bounded")
    func memory() throws {
        let pace = CallPace<UserID>(capacity: 10)
        for number in 0..<100 { try pace.take(UserID(Int64(number)), perMinute: 5, at: .milliseconds(number)) }
        #expect(pace.count <= 10)
    }

    @Test("calls less than a millisecond apart earn their part of the minute")
    func shortWaits() throws {
        let pace = CallPace<UserID>()
        // 6 s at 1,500 calls a second, of which a minute's limit of 90,000 gives back each one.
        for number in 0..<9_000 {
            let left = try pace.take(UserID(1), perMinute: 90_000, at: .nanoseconds(number * 666_667)).left
            #expect(left >= 89_998, "call \(number)")
        }
    }

    @Test("a clock that is read out of order earns nothing twice")
    func outOfOrder() throws {
        let pace = CallPace<UserID>()
        for _ in 0..<3 { try pace.take(UserID(1), perMinute: 3, at: .seconds(100)) }
        #expect(throws: ServiceError.self) { try pace.take(UserID(1), perMinute: 3, at: .seconds(70)) }
        #expect(throws: ServiceError.self) { try pace.take(UserID(1), perMinute: 3, at: .seconds(100)) }
    }

    @Test("of devices count those that are signed in, and leave a device that is there alone")
    func devices() async throws {
        let test = try await TestBackend { $0.userDevices = 2 }
        let ann = try await test.user("ann")
        _ = try await test.install(ann, "phone-1", handle: 1)
        try await test.register(ann, handle: 2, id: "phone-2")
        let refused = try #require(await refusal { _ = try await test.install(ann, "phone-3", handle: 3) })
        #expect(refused.code == .quotaExceeded)
        #expect(refused.detail?.contains("signed in on 2 devices") == true)
        #expect(test.hub.devices.count == 2)
        _ = try await test.install(ann, "phone-1", handle: 4)
        _ = try await test.install(ann, "phone-5", handle: 4)
        try await test.backend.deleteRegistration(id: "phone-2", for: ann)
        _ = try await test.install(ann, "phone-3", handle: 3)
    }
}
