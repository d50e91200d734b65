import ClarionTesting
import RichPushModel
import ServiceErrors
import Synchronization
import Testing

@testable import AppBackend

/// A store that counts uploads, and refuses them while `isAway`.
private final class CountedStore: ContentStore {
    let uploads = Mutex(0)
    let isAway = Mutex(false)
    private let base: any ContentStore

    init(_ base: any ContentStore) { self.base = base }

    func beginUpload(limit: Int64) async throws -> any ContentUpload {
        if isAway.withLock({ $0 }) { throw ServiceError(.storageUnavailable, "away") }
        uploads.withLock { $0 += 1 }
        return try await base.beginUpload(limit: limit)
    }

    func open(_ digest: ContentDigest) async throws -> (any ContentReader)? { try await base.open(digest) }

    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await base.remove(digest, storedBefore: moment)
    }

    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await base.digests(after: digest, limit: limit)
    }
}

@Suite("The default picture of several nodes")
struct DefaultPictureTests {
    @Test("a node with the picture of before sends it whole, although another has removed its bytes since")
    func rollingChange() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (before, after) = (Sample.png(byteCount: 500), Sample.png(byteCount: 600))
        try await test.backend.setDefaultPicture(before, fileName: "a.png")
        test.clock.advance(by: .seconds(7200))
        let newer = RichPushBackend(parts: test.backend.parts)
        try await newer.setDefaultPicture(after, fileName: "b.png")
        let upkeep = BackendUpkeep(of: newer)
        try await upkeep.sweep()
        #expect(try await test.contentStore.digests(after: nil, limit: 10).count == 1)
        let old = try await test.backend.sendDefaultPicture(for: ann)
        let new = try await newer.sendDefaultPicture(for: ann)
        try await upkeep.sweep()
        #expect(try await test.content(of: old.id, for: ann) == before)
        #expect(try await test.content(of: new.id, for: ann) == after)
    }

    @Test("the bytes are stored again by one send in twenty minutes; an unavailable store stops sends only after twice that time")
    func renewal() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var parts = test.backend.parts
        let store = CountedStore(parts.contentStore)
        parts.contentStore = store
        let backend = RichPushBackend(parts: parts)
        try await backend.setDefaultPicture(Sample.png, fileName: "a.png")
        func send() async -> ServiceErrorCode? { await code { _ = try await backend.sendDefaultPicture(for: ann) } }
        test.clock.advance(by: DefaultPicture.renewal - .seconds(1))
        #expect(await send() == nil)
        #expect(store.uploads.withLock { $0 } == 1)
        test.clock.advance(by: .seconds(1))
        for _ in 1...3 { #expect(await send() == nil) }
        #expect(store.uploads.withLock { $0 } == 2)
        store.isAway.withLock { $0 = true }
        test.clock.advance(by: DefaultPicture.deadline - .seconds(1))
        #expect(await send() == nil)
        test.clock.advance(by: .seconds(1))
        #expect(await send() == .storageUnavailable)
        store.isAway.withLock { $0 = false }
        #expect(await send() == nil)
        #expect(store.uploads.withLock { $0 } == 3)
    }

    @Test("of many sends at once one stores the bytes again, and the others do not wait; when that is due all do")
    func atOnce() throws {
        let digest = try #require(ContentDigest(String(repeating: "a", count: 64)))
        let picture = DefaultPicture()
        let record = ContentRecord(
            id: "x", owner: UserID(0), digest: digest, mediaType: "image/png", byteCount: 3, fileName: nil, expiresAt: nil)
        picture.set(record, bytes: [1, 2, 3], storedAt: .zero)
        func renews(_ uptime: Duration) -> Bool {
            if case .renew = picture.use(at: uptime) { true } else { false }
        }
        #expect(renews(DefaultPicture.renewal))
        #expect(!renews(DefaultPicture.renewal))
        picture.renewed(at: nil)
        #expect(renews(DefaultPicture.renewal))
        #expect(renews(DefaultPicture.deadline))
        #expect(renews(DefaultPicture.deadline))
        picture.renewed(at: DefaultPicture.deadline)
        #expect(!renews(DefaultPicture.deadline))
    }

    @Test("what a send names is stored again long before it may be removed")
    func times() { #expect(DefaultPicture.deadline + .seconds(900) <= BackendSweep.freshness) }
}
