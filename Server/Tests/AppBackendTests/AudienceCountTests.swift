import AppBackend
import RichPushModel
import ServiceErrors
import Testing

@Suite("The count of an audience")
struct AudienceCountTests {
    @Test("has the devices that a send to it would reach, and the caller's own without an audience")
    func counts() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        for number in 1...2 { try await test.register(bob, handle: number, tags: ["news"]) }
        try await test.register(ann, handle: 3, tags: ["news"])
        for (audience, count) in [("username:bob", 2), ("news", 3), ("news && !username:bob", 1), ("beta", 0), (nil, 1)]
            as [(String?, Int)]
        {
            let found = try await test.backend.countAudience(audience, for: ann)
            #expect(found == AudienceCount(targets: count, isComplete: true), "\(audience ?? "own")")
        }
        #expect(test.hub.sends.isEmpty)
    }

    @Test("is refused where a send would be: to a user, to a key outside of its prefix, and for what is no expression")
    func refusals() async throws {
        let test = try await TestBackend()
        let (ann, zoe) = (try await test.user("ann"), try await test.user("zoe", .user))
        let eve = try await test.user("eve", .auditor)
        let shop = try await test.signIn(with: test.key("shop", "send:shop"))
        let reader = try await test.signIn(with: test.key("reader", "status"))
        for caller in [zoe, eve, reader] {
            #expect(await code { _ = try await test.backend.countAudience("news", for: caller) } == .forbidden)
        }
        #expect(try await test.backend.countAudience("shop-sale || shop-news", for: shop).targets == 0)
        for audience in ["news", "shop-sale || news", "!shop-sale"] {
            #expect(await code { _ = try await test.backend.countAudience(audience, for: shop) } == .forbidden)
        }
        #expect(await code { _ = try await test.backend.countAudience(nil, for: shop) } == .invalidAudience)
        #expect(await code { _ = try await test.backend.countAudience("a &&", for: ann) } == .invalidAudience)
    }

    @Test("counts as a send for the limit of sends in a minute")
    func pace() async throws {
        let test = try await TestBackend { $0.senderSendsPerMinute = 2 }
        let ann = try await test.user("ann")
        _ = try await test.backend.countAudience("news", for: ann)
        _ = try await test.send(ann, to: "news")
        #expect(await code { _ = try await test.backend.countAudience("news", for: ann) } == .tooManyRequests)
    }

    @Test("is refused with the reason of a hub that does not count")
    func elsewhere() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let reason = ServiceError(.conflict, "not here")
        test.hub.refuseCounts(reason)
        #expect(await refusal { _ = try await test.backend.countAudience("news", for: ann) } == reason)
    }
}
