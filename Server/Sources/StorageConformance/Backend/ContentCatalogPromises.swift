import AppBackend
import RichPushModel
import ServiceErrors
import Testing

/// What a `ContentCatalog` promises.
public enum ContentCatalogPromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsContents, hasAQuota, countsSmallFiles, quotaHoldsForMany, keepReplaces, removesWhatExpired, orphansGoInPages,
        adoptsOrphans,
    ]

    private typealias Sample = BackendSample
    private static let room = ContentQuota(bytes: 1 << 40)
    private static let block = ContentQuota.smallest

    private static let keepsContents = StoragePromise<any BackendStore>(
        "a content comes back as stored, until the moment at which it expires"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        var content = try Sample.content("c1", of: ada, bytes: 1 << 33)
        content.fileName = "Bild 😀.png"
        try await store.stage(content, quota: room, at: Sample.start)
        #expect(try await store.content("c1", at: Sample.time(999)) == content)
        #expect(try await store.content("c1", at: Sample.time(1000)) == nil)
        #expect(try await store.content("C1", at: Sample.start) == nil)
        content.fileName = nil
        content.id = "c2"
        try await store.stage(content, quota: room, at: Sample.start)
        #expect(try await store.content("c2", at: Sample.start)?.fileName == nil)
    }

    private static let hasAQuota = StoragePromise<any BackendStore>(
        "an owner's contents together stay within the quota; what expired and what others have does not count"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        func stage(_ id: String, _ bytes: Int64, _ user: User, at seconds: Int64 = 0) async throws {
            try await store.stage(
                try Sample.content(id, of: user, bytes: bytes * block, expires: Sample.time(100)),
                quota: ContentQuota(bytes: 100 * block, waiting: 3), at: Sample.time(seconds))
        }
        try await stage("a", 60, ada)
        try await stage("b", 100, bob)
        let error = await #expect(throws: ServiceError.self) { try await stage("c", 41, ada) }
        #expect(error?.code == .quotaExceeded)
        #expect(try await store.content("c", at: Sample.start) == nil)
        try await stage("d", 40, ada)
        #expect(try await store.contentUse(of: ada.id, at: Sample.start) == ContentUse(bytes: 100 * block, waiting: 2))
        #expect(try await store.contentUse(of: ada.id, at: Sample.time(100)) == ContentUse(bytes: 0, waiting: 0))
        try await stage("e", 100, ada, at: 100)
        #expect(try await store.contentUse(of: UserID(99), at: Sample.start) == ContentUse(bytes: 0, waiting: 0))
    }

    private static let countsSmallFiles = StoragePromise<any BackendStore>(
        "a small content counts a block, and only so many contents wait at once"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        func stage(_ id: String, _ quota: ContentQuota, at seconds: Int64 = 0) async -> ServiceErrorCode? {
            do {
                let content = try Sample.content(id, of: ada, bytes: 20, expires: Sample.time(100))
                try await store.stage(content, quota: quota, at: Sample.time(seconds))
                return nil
            } catch { return (error as? ServiceError)?.code }
        }
        let blocks = ContentQuota(bytes: 2 * block)
        #expect(await stage("a", blocks) == nil)
        #expect(await stage("b", blocks) == nil)
        #expect(await stage("c", blocks) == .quotaExceeded, "two files of 20 bytes fill two blocks")
        #expect(await stage("c", ContentQuota(bytes: 1 << 30, waiting: 2)) == .quotaExceeded)
        #expect(await stage("c", ContentQuota(bytes: 1 << 30, waiting: 3)) == nil)
        #expect(await stage("d", ContentQuota(bytes: block, waiting: 1), at: 100) == nil, "what expired waits no more")
    }

    private static let quotaHoldsForMany = StoragePromise<any BackendStore>("of many uploads at once no more get in than fit") {
        store in
        let ada = try await Sample.user("ada", in: store)
        let taken = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<10 {
                group.addTask {
                    do {
                        let content = try Sample.content("c\(number)", of: ada, bytes: 30 * block)
                        try await store.stage(content, quota: ContentQuota(bytes: 100 * block), at: Sample.start)
                        return true
                    } catch { return false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 3)
        #expect(try await store.contentUse(of: ada.id, at: Sample.start) == ContentUse(bytes: 90 * block, waiting: 3))
    }

    private static let keepReplaces = StoragePromise<any BackendStore>(
        "what is kept stays, and the bytes of what it replaces are an orphan's"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for digest in [1, 1, 2] {
            let content = try Sample.content("default", of: ada, digest: digest, expires: nil)
            try await store.keep(content, at: Sample.start)
            #expect(try await store.content("default", at: Sample.time(1 << 30)) == content)
        }
        #expect(try await store.orphans(after: nil, limit: 9).digests == [try Sample.digest(1)])
    }

    private static let removesWhatExpired = StoragePromise<any BackendStore>(
        "expired contents go some at a time, and digests that no content has any more become orphans"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for (id, digest, seconds) in [("a", 1, Int64(10)), ("b", 1, 20), ("c", 2, 10), ("d", 3, 30)] {
            try await store.stage(
                try Sample.content(id, of: ada, digest: digest, expires: Sample.time(seconds)), quota: room, at: Sample.start)
        }
        #expect(try await store.removeExpiredContents(before: Sample.time(11), limit: 1) == 1)
        #expect(try await store.removeExpiredContents(before: Sample.time(11), limit: 9) == 1)
        #expect(try await store.removeExpiredContents(before: Sample.time(11), limit: 9) == 0)
        #expect(try await store.orphans(after: nil, limit: 9).digests == [try Sample.digest(2)], "b still has 1")
        #expect(try await store.removeExpiredContents(before: Sample.time(21), limit: 9) == 1)
        #expect(try await store.orphans(after: nil, limit: 9).digests == [try Sample.digest(1), try Sample.digest(2)])
        #expect(try await store.content("d", at: Sample.start) != nil)
    }

    private static let orphansGoInPages = StoragePromise<any BackendStore>(
        "unused digests become orphans, which come in order and in pages and can be forgotten"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        try await store.stage(try Sample.content("a", of: ada, digest: 3), quota: room, at: Sample.start)
        let digests = try (1...7).map(Sample.digest)
        try await store.noteOrphans(among: digests.reversed())
        try await store.noteOrphans(among: digests)
        try await store.noteOrphans(among: [])
        var found: [ContentDigest] = []
        var next: ContentDigest?
        repeat {
            let page = try await store.orphans(after: next, limit: 2)
            found += page.digests
            next = page.next
        } while next != nil
        #expect(found == digests.filter { $0 != digests[2] })
        try await store.forgetOrphan(digests[0])
        try await store.forgetOrphan(digests[0])
        #expect(try await store.orphans(after: nil, limit: 1).digests == [digests[1]])
    }

    private static let adoptsOrphans = StoragePromise<any BackendStore>("an orphan that a content has again is none any more") {
        store in
        let ada = try await Sample.user("ada", in: store)
        try await store.noteOrphans(among: [try Sample.digest(1), try Sample.digest(2)])
        try await store.stage(try Sample.content("a", of: ada, digest: 1), quota: room, at: Sample.start)
        #expect(try await store.orphans(after: nil, limit: 9).digests == [try Sample.digest(2)])
        #expect(try await store.orphans(after: nil, limit: 9).digests == [try Sample.digest(2)])
    }
}
