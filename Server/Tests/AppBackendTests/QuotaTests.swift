import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite struct QuotaTests {
    private func detail(_ work: () async throws -> Void) async -> String? {
        do { try await work() } catch let error as ServiceError where error.code == .quotaExceeded { return error.detail } catch {
        }
        return nil
    }

    @Test("what was sent counts, of each owner alone, and the error says what and how much")
    func sent() async throws {
        let test = try await TestBackend { $0.contentQuota = 25_000 }
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let first = try await test.store(Sample.png(byteCount: 10_000), ann)
        _ = try await test.send(ann) { $0.contentID = first }
        _ = try await test.send(ann) { $0.contentID = first }
        _ = try await test.store(Sample.png(byteCount: 10_000), ann)
        let refusal = try #require(await detail { _ = try await test.store(Sample.png(byteCount: 5_001), ann) })
        #expect(refusal.contains("20000 of the 25000 bytes"))
        #expect(refusal.contains("more than 5000 bytes"))
        _ = try await test.store(Sample.png(byteCount: 5_000), ann)
        #expect(await detail { _ = try await test.store(Sample.png, ann) } != nil)
        _ = try await test.store(Sample.png(byteCount: 25_000), bob)
    }

    @Test("a link, a coupon and the default picture count as well")
    func written() async throws {
        let test = try await TestBackend { $0.contentQuota = 4_000 }
        let ann = try await test.user("ann")
        try await test.backend.setDefaultPicture(Sample.png(byteCount: 4_001), fileName: "a.png")
        #expect(await detail { _ = try await test.backend.sendDefaultPicture(for: ann) } != nil)
        let refusal = await detail { _ = try await test.send(ann) { $0.link = "https://example.org/a/long/path" } }
        #expect(refusal?.contains("has 33 bytes") == true)
        #expect(test.hub.sends.isEmpty)
    }

    @Test("what is recalled, refused or expired gives its bytes back")
    func released() async throws {
        let test = try await TestBackend { $0.contentQuota = 10_000 }
        let ann = try await test.user("ann")
        func full() async throws -> String { try await test.store(Sample.png(byteCount: 10_000), ann) }
        let recalled = try await full()
        let id = try await test.send(ann) { $0.contentID = recalled }
        #expect(await detail { _ = try await full() } != nil)
        try await test.backend.recall(id, for: ann)
        let refused = try await full()
        test.hub.failNext(.before(ServiceError(.payloadTooLarge)))
        #expect(await code { _ = try await test.send(ann) { $0.contentID = refused } } == .payloadTooLarge)
        let expiring = try await full()
        _ = try await test.send(ann) {
            $0.contentID = expiring
            $0.expiresAt = test.clock.now + .seconds(60)
        }
        #expect(await detail { _ = try await full() } != nil)
        test.clock.advance(by: .seconds(60) + test.backend.parts.settings.retention.grace + .seconds(1))
        try await test.upkeep.sweep()
        _ = try await full()
    }

    @Test("a content that another notification still shows is not given back")
    func stillShown() async throws {
        let test = try await TestBackend { $0.contentQuota = 10_000 }
        let ann = try await test.user("ann")
        let content = try await test.store(Sample.png(byteCount: 10_000), ann)
        let first = try await test.send(ann) { $0.contentID = content }
        let second = try await test.send(ann) { $0.contentID = content }
        try await test.backend.recall(first, for: ann)
        #expect(await detail { _ = try await test.store(Sample.png, ann) } != nil)
        try await test.backend.recall(second, for: ann)
        _ = try await test.store(Sample.png, ann)
    }

    @Test("bytes that did not fit leave the disk")
    func leftovers() async throws {
        let test = try await TestBackend { $0.contentQuota = 15_000 }
        let ann = try await test.user("ann")
        await withTaskGroup { group in
            for size in 10_000..<10_006 {
                group.addTask { _ = await code { _ = try await test.store(Sample.png(byteCount: size), ann) } }
            }
        }
        try await test.upkeep.sweep()
        #expect(try await test.contentStore.digests(after: nil, limit: 10).count == 1)
    }

    @Test("a thousand small files fill the quota as blocks of the disk, and only so many wait to be sent")
    func smallFiles() async throws {
        let test = try await TestBackend {
            $0.contentQuota = 10 * ContentQuota.smallest
            $0.waitingContents = 4
        }
        let ann = try await test.user("ann")
        for _ in 0..<2 {
            for _ in 0..<4 { _ = try await test.store(ann) }
            let refusal = try #require(await detail { _ = try await test.store(ann) })
            #expect(refusal.contains("4 of your contents wait"))
            test.clock.advance(by: test.backend.parts.settings.stagedLifetime)
        }
        for _ in 0..<10 {
            let content = try await test.store(ann)
            _ = try await test.send(ann) { $0.contentID = content }
        }
        let refusal = try #require(await detail { _ = try await test.store(ann) })
        #expect(refusal.contains("40960 of the 40960 bytes"))
    }
}
