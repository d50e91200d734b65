import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Records and content on disk")
struct FileStoreTests {
    let folder: URL
    let session = SessionID("session-1")!
    let now = Timestamp(milliseconds: 1_800_000_000_000)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
    }

    private func store() throws -> FileSharedStore {
        let store = try FileSharedStore(folder: folder.appendingPathComponent("records"))
        try store.begin(Session(id: session, user: "a", installation: InstallationID("i")!, signedInAt: now))
        return store
    }

    private func cache(_ limits: FileContentCache.Limits = .init()) throws -> FileContentCache {
        let cache = try FileContentCache(folder: folder.appendingPathComponent("content"), limits: limits)
        try cache.begin(session)
        return cache
    }

    @Test("a record's name never becomes a path")
    func names() throws {
        let store = try store()
        for name in ["../../x", "/etc/passwd", "a/b", "", "\0", String(repeating: "x", count: 5_000)] {
            let key = RecordKey(.details, name, of: session)
            try store.setRecord(Data(name.utf8), for: key)
            #expect(try store.record(key) == Data(name.utf8))
            #expect(store.file(key).deletingLastPathComponent() == store.folder(.details, session))
        }
        #expect(try store.records(.details, of: session, limit: 100).count == 6)
    }

    @Test("a claim is held by one, and by the next after it expired or was given back")
    func claims() throws {
        let (first, second) = (try store(), try FileSharedStore(folder: folder.appendingPathComponent("records")))
        let key = RecordKey(.claims, "7", of: session)
        #expect(try first.claim(key, until: now + .seconds(10), now: now) != nil)
        #expect(try second.claim(key, until: now + .seconds(10), now: now + .seconds(9)) == nil)
        let taken = try #require(try second.claim(key, until: now + .seconds(30), now: now + .seconds(10)))
        #expect(try first.claim(key, until: now + .seconds(30), now: now + .seconds(11)) == nil)
        try second.release(taken)
        #expect(try first.claim(key, until: now + .seconds(30), now: now + .seconds(12)) != nil)
    }

    @Test("a claim that expired and was taken over is not given back by who held it before")
    func overtaken() throws {
        let (app, other) = (try store(), try FileSharedStore(folder: folder.appendingPathComponent("records")))
        let key = RecordKey(.claims, "7", of: session)
        let before = try #require(try app.claim(key, until: now + .seconds(10), now: now))
        let held = try #require(try other.claim(key, until: now + .seconds(40), now: now + .seconds(10)))
        try app.release(before)
        #expect(try app.claim(key, until: now + .seconds(40), now: now + .seconds(11)) == nil)
        try other.release(held)
        #expect(try app.claim(key, until: now + .seconds(40), now: now + .seconds(12)) != nil)
        try other.release(held)
        #expect(try other.claim(key, until: now + .seconds(40), now: now + .seconds(13)) == nil)
    }

    @Test("of many that want a claim at once, new or expired, exactly one gets it", arguments: [false, true])
    func race(isExpired: Bool) async throws {
        let store = try store()
        let key = RecordKey(.claims, "7", of: session)
        if isExpired { #expect(try store.claim(key, until: now, now: now - .seconds(1)) != nil) }
        let now = now
        let winners = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { ((try? store.claim(key, until: now + .seconds(9), now: now)) ?? nil) != nil } }
            return await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(winners == 1)
        #expect(FileAccess.files(in: store.folder(.claims, session)).count == 1)
    }

    @Test("a claim whose take-over ended in the middle can be had again, by one, once that process' time is over")
    func brokenTakeOver() async throws {
        let store = try store()
        let key = RecordKey(.claims, "7", of: session)
        #expect(try store.claim(key, until: now, now: now - .seconds(1)) != nil)
        let folder = store.folder(.claims, session)
        let old = try JSONDecoder().decode(FileSharedStore.Claim.self, from: Data(contentsOf: store.file(key)))
        let turn = folder.appendingPathComponent("turn-" + DigestText.digest(old.token))
        try JSONEncoder().encode(FileSharedStore.Claim(token: "ended", expiry: now + .seconds(10))).write(to: turn)
        #expect(try store.claim(key, until: now + .seconds(30), now: now + .seconds(9)) == nil)
        let later = now + .seconds(10)
        let winners = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { ((try? store.claim(key, until: later + .seconds(9), now: later)) ?? nil) != nil } }
            return await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(winners == 1)
        #expect(FileAccess.files(in: folder) == [store.file(key)])
    }

    @Test("claims of processes that were ended do not pile up, nor does one outlast a clock that was set back")
    func abandonedClaims() throws {
        let store = try store()
        for number in 1...40 {
            let key = RecordKey(.claims, "\(number)", of: session)
            #expect(try store.claim(key, until: now + .seconds(30), now: now) != nil)
        }
        let key = RecordKey(.claims, "last", of: session)
        #expect(try store.claim(key, until: now + .seconds(7_300), now: now + .seconds(7_200)) != nil)
        #expect(FileAccess.files(in: store.folder(.claims, session)) == [store.file(key)])
        #expect(try store.claim(key, until: now + .seconds(30), now: now) != nil)
    }

    @Test("records of content that never came go after an hour")
    func orphans() throws {
        let cache = try cache()
        try adopt(1, 20, cache, at: 0)
        let file = try #require(try cache.content(key(1), now: now)?.file)
        try FileManager.default.removeItem(at: file)
        try adopt(2, 20, cache, at: 3_599)
        #expect(FileAccess.exists(file.appendingPathExtension("json")))
        try adopt(3, 20, cache, at: 3_600)
        #expect(!FileAccess.exists(file.appendingPathExtension("json")))
    }

    @Test("after a wipe nothing can be written for the session that ended, not even by who still works for it")
    func wiped() throws {
        let (store, cache) = (try store(), try cache())
        let download = try cache.newDownload(for: session, now: now)
        try store.wipe()
        try cache.wipe()
        #expect(throws: StorageError.sessionEnded) {
            try store.setRecord(Data(), for: RecordKey(.details, "1", of: session))
        }
        #expect(throws: StorageError.sessionEnded) { try cache.newDownload(for: session, now: now) }
        #expect(throws: (any Error).self) { try Data([1]).write(to: download) }
        #expect(throws: StorageError.sessionEnded) {
            try store.claim(RecordKey(.claims, "1", of: session), until: now, now: now)
        }
        #expect(try store.session() == nil)
    }

    @Test("content that was not used for longest goes first, by count and by bytes")
    func leastRecentlyUsed() throws {
        var limits = FileContentCache.Limits()
        limits.count = 3
        limits.byteCount = 100
        let cache = try cache(limits)
        for (index, number) in ([1, 2, 3] as [Int32]).enumerated() { try adopt(number, 20, cache, at: index) }
        #expect(try cache.content(key(1), now: now + .seconds(10)) != nil)
        try adopt(4, 20, cache, at: 11)
        #expect([1, 2, 3, 4].filter { cache.contains(key($0)) } == [1, 3, 4])
        try adopt(5, 80, cache, at: 12)
        #expect([1, 2, 3, 4, 5].filter { cache.contains(key($0)) } == [4, 5])
    }

    @Test("content can be read on a full disk, and not when its session ended meanwhile")
    func fullDisk() throws {
        var cache = try cache()
        try adopt(1, 20, cache, at: 0)
        cache.writing = { _, _, _ throws(StorageError) in throw .failed }
        let content = try #require(try cache.content(key(1), now: now + .seconds(10)))
        #expect(try Data(contentsOf: content.file).count == 20)
        let root = cache.root
        cache.writing = { _, _, _ throws(StorageError) in
            try? FileManager.default.removeItem(at: root)
            throw .sessionEnded
        }
        #expect(try cache.content(key(1), now: now + .seconds(10)) == nil)
    }

    @Test("the draft of a record that another push is writing survives an eviction")
    func draft() throws {
        let cache = try cache()
        try adopt(1, 20, cache, at: 0)
        let file = try #require(try cache.content(key(1), now: now)?.file)
        let draft = file.deletingLastPathComponent().appendingPathComponent(".dat.nosync1.a")
        try Data([1]).write(to: draft)
        try adopt(2, 20, cache, at: 1)
        #expect(FileAccess.exists(draft))
    }

    @Test("content that was not used for a month goes")
    func age() throws {
        let cache = try cache()
        try adopt(1, 20, cache, at: 0)
        try adopt(2, 20, cache, at: 31 * 86_400)
        #expect(!cache.contains(key(1)))
        #expect(cache.contains(key(2)))
    }

    @Test("downloads that a crash left behind go after an hour")
    func abandoned() throws {
        let cache = try cache()
        let old = try cache.newDownload(for: session, now: now)
        try Data([1]).write(to: old)
        try adopt(1, 20, cache, at: 3_000)
        #expect(FileAccess.exists(old))
        try adopt(2, 20, cache, at: 3_601)
        #expect(!FileAccess.exists(old))
    }

    @Test("a file is measured whole, in pieces, with its beginning")
    func inspection() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("x")
        let data = Samples.png(3, count: 300_001)
        try data.write(to: file)
        let inspection = try #require(FileInspection(of: file))
        #expect(inspection.byteCount == Int64(data.count))
        #expect(inspection.sha256 == Samples.descriptor(data).sha256)
        #expect(inspection.head == Array(data.prefix(512)))
        #expect(FileInspection(of: folder.appendingPathComponent("none")) == nil)
    }

    @Test("every format recognises its own beginning and no other's, but for those of one container")
    func formats() {
        let heads: [MediaFormat: [UInt8]] = [
            .png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .jpeg: [0xFF, 0xD8, 0xFF, 0xE0], .gif: Array("GIF89a".utf8),
            .webp: Array("RIFF0000WEBP".utf8), .wav: Array("RIFF0000WAVE".utf8), .aiff: Array("FORM0000AIFF".utf8),
            .mp3: Array("ID3".utf8), .caf: Array("caff".utf8), .mp4: [0, 0, 0, 9] + Array("ftypisom".utf8),
            .mpeg: [0, 0, 1, 0xBA], .pdf: Array("%PDF-1".utf8),
        ]
        let container: Set<MediaFormat> = [.m4a, .mp4, .quickTime, .heic]
        for (format, head) in heads {
            for other in MediaFormat.allCases where ![.json, .uriList, .plainText].contains(other) {
                let isSame = other == format || container.isSuperset(of: [other, format])
                #expect(other.matches(head: head) == isSame, "\(other) for a file of type \(format)")
            }
        }
        #expect(!MediaFormat.plainText.matches(head: Array(" <html>".utf8)))
        #expect(!MediaFormat.json.matches(head: Array("[1]".utf8)))
        #expect(MediaFormat(declared: "Image/PNG; x=y") == .png)
    }

    private func key(_ number: Int32) -> ContentKey { ContentKey(id(number), sha256: "\(number)", of: session) }

    private func adopt(_ number: Int32, _ count: Int, _ cache: FileContentCache, at seconds: Int) throws {
        let moment = now + .seconds(seconds)
        let file = try cache.newDownload(for: session, now: moment)
        try Data(count: count).write(to: file)
        let descriptor = ContentDescriptor(mediaType: "image/png", byteCount: Int64(count), sha256: "\(number)")
        _ = try cache.adopt(file, as: key(number), descriptor: descriptor, now: moment)
    }
}
