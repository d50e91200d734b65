import AppBackend
import Foundation
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite struct ContentTests {
    @Test("the bytes that come out are the bytes that went in, whole and by range")
    func roundTrip() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let bytes = Sample.png(byteCount: 300_000)
        let content = try await test.store(bytes, ann)
        let id = try await test.send(ann) { $0.contentID = content }
        #expect(try await test.content(of: id, for: ann) == bytes)
        let opened = try await test.backend.openContent(of: id, variant: .original, for: ann)
        for range in [0..<1, 65_535..<65_537, 299_999..<300_000, 100..<100, 0..<400_000] as [Range<Int64>] {
            var read: [UInt8] = []
            for try await chunk in opened.read(range) {
                #expect(chunk.count <= ReadableContent.chunkSize)
                read += chunk
            }
            #expect(read == Array(bytes[Int(range.lowerBound)..<min(Int(range.upperBound), bytes.count)]))
        }
    }

    @Test("content belongs to who stored it")
    func owner() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let content = try await test.store(ann)
        for (user, id) in [(bob, content), (ann, "unknown"), (ann, "../../etc/passwd"), (ann, "default-picture")] {
            #expect(await code { _ = try await test.send(user) { $0.contentID = id } } == .notFound)
            #expect(
                await code {
                    _ = try await test.send(user) {
                        $0.contentID = content; $0.thumbID = id
                    }
                } == .notFound)
        }
    }

    @Test("unsent content is removed after a day with its bytes; sent content stays")
    func expiry() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let unused = try await test.backend.storeContent(
            declaredType: nil, fileName: nil, chunks: Chunks(Sample.png(byteCount: 700)), for: ann)
        let used = try await test.store(ann)
        let id = try await test.send(ann) { $0.contentID = used }
        test.clock.advance(by: .seconds(24 * 3600))
        #expect(await code { _ = try await test.send(ann) { $0.contentID = unused.id } } == .notFound)
        try await test.upkeep.sweep()
        let digest = try #require(ContentDigest(unused.content.sha256))
        #expect(try await test.contentStore.open(digest) == nil)
        #expect(try await test.content(of: id, for: ann) == Sample.png)
    }

    @Test("a content larger than allowed is refused while it comes in, and nothing stays")
    func limit() async throws {
        let test = try await TestBackend { $0.contentLimit = 10_000 }
        let ann = try await test.user("ann")
        _ = try await test.store(Sample.png(byteCount: 10_000), ann)
        #expect(await code { _ = try await test.store(Sample.png(byteCount: 10_001), ann) } == .contentTooLarge)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder + "/content/incoming").isEmpty)
    }

    @Test("an upload that breaks off leaves nothing behind")
    func broken() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        await #expect(throws: Chunks.Broken.self) {
            _ = try await test.backend.storeContent(
                declaredType: nil, fileName: nil, chunks: Chunks(Sample.png(byteCount: 50_000), breaks: true), for: ann)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder + "/content/incoming").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder + "/content/objects").isEmpty)
    }

    @Test("of two uploads at the same moment only one gets the last bytes of the quota")
    func quota() async throws {
        let test = try await TestBackend { $0.contentQuota = 15_000 }
        let ann = try await test.user("ann")
        let codes = await withTaskGroup(of: ServiceErrorCode?.self) { group in
            for size in 10_000..<10_006 {
                group.addTask { await code { _ = try await test.store(Sample.png(byteCount: size), ann) } }
            }
            return await group.reduce(into: [ServiceErrorCode?]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == .quotaExceeded } == 5)
    }

    @Test("an absent thumb is the original up to 500 KB, else it is not there")
    func thumb() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let small = try await test.store(Sample.png(byteCount: 500 * 1024), ann)
        let large = try await test.store(Sample.png(byteCount: 500 * 1024 + 1), ann)
        let first = try await test.send(ann) { $0.contentID = small }
        let second = try await test.send(ann) { $0.contentID = large }
        #expect(try await test.content(of: first, .thumb, for: ann).count == 500 * 1024)
        #expect(await code { _ = try await test.content(of: second, .thumb, for: ann) } == .notFound)
        #expect(try await test.backend.details(of: second, for: ann).thumb == nil)
        let words = try await test.send(ann)
        #expect(await code { _ = try await test.content(of: words, for: ann) } == .notFound)
    }

    @Test("the kind must agree with the bytes; anything may be sent as a file")
    func kinds() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let picture = try await test.store(ann)
        let pdf = try await test.store(Array("%PDF-1.7\n".utf8), ann)
        #expect(
            await code {
                _ = try await test.send(ann) {
                    $0.contentID = picture; $0.kind = .sound
                }
            } == .unsupportedContent)
        #expect(
            await code {
                _ = try await test.send(ann) {
                    $0.contentID = pdf; $0.kind = .image
                }
            } == .unsupportedContent)
        #expect(
            await code {
                _ = try await test.send(ann) {
                    $0.contentID = picture; $0.thumbID = pdf
                }
            } == .unsupportedContent)
        let file = try await test.send(ann) {
            $0.contentID = picture
            $0.kind = .file
        }
        #expect(try await test.backend.details(of: file, for: ann).kind == .file)
        let document = try await test.send(ann) { $0.contentID = pdf }
        #expect(try await test.backend.details(of: document, for: ann).kind == .file)
    }

    @Test("a ticket opens one variant of one notification for five minutes, and only while its user may read it")
    func ticket() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let content = try await test.store(ann)
        let id = try await test.send(ann, to: "username:bob") { $0.contentID = content }
        let other = try await test.send(ann, to: "username:bob") { $0.contentID = content }
        let ticket = try await test.backend.issueTicket(for: id, variant: .original, for: bob)
        let redeem: (RichID, ContentVariant) async -> ServiceErrorCode? = { id, variant in
            await code { _ = try await test.backend.redeem(ticket: ticket.ticket, for: id, variant: variant) }
        }
        #expect(await redeem(id, .original) == nil)
        #expect(await redeem(other, .original) == .notFound)
        #expect(await redeem(id, .thumb) == .notFound)
        test.clock.advance(by: .seconds(299))
        #expect(await redeem(id, .original) == nil)
        test.clock.advance(by: .seconds(1))
        #expect(await redeem(id, .original) == .notFound)
        let old = try await test.backend.issueTicket(for: id, variant: .original, for: bob)
        try await test.backend.setPassword("another phrase for bob", ofUser: "bob")
        let foundOld = await code { _ = try await test.backend.redeem(ticket: old.ticket, for: id, variant: .original) }
        #expect(foundOld == .notFound, "a ticket ends with the password under which it was issued")
        let bobAgain = try await test.backend.authenticate(
            .basic(user: "bob", password: "another phrase for bob"), from: TestBackend.source)
        let fresh = try await test.backend.issueTicket(for: id, variant: .original, for: bobAgain)
        _ = try await test.backend.redeem(ticket: fresh.ticket, for: id, variant: .original)
        try await test.backend.removeUser(name: "bob")
        let found = await code { _ = try await test.backend.redeem(ticket: fresh.ticket, for: id, variant: .original) }
        #expect(found == .notFound)
    }
}
