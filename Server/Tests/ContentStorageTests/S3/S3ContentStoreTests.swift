import AppBackend
import ClarionTesting
import NIOCore
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@testable import ContentStorage

@Suite("Contents on an S3 store")
struct S3ContentStoreTests {
    @Test("S3:", arguments: ContentStorePromises.all)
    func promises(_ promise: StoragePromise<any ContentStore>) async throws {
        try await S3Bench().with { try await promise.check($0) }
    }

    @Test("S3 over TLS with a lent key:", arguments: ContentStorePromises.all)
    func secured(_ promise: StoragePromise<any ContentStore>) async throws {
        let bench = try await S3Bench()
        try await bench.with(try bench.options(isSecure: true, key: bench.server.keys.lent)) { try await promise.check($0) }
    }

    @Test("a large content goes in parts, is copied to its place in pieces, and leaves nothing else behind")
    func large() async throws {
        let bench = try await S3Bench()
        var options = try bench.options()
        options.copyBytes = 5 << 20
        try await bench.with(options) { store in
            let bytes = S3Bench.bytes(12_345_678)
            let stored = try await S3Bench.store(bytes, in: store)
            #expect(stored.byteCount == 12_345_678)
            #expect(try await S3Bench.read(stored.digest, in: store) == bytes)
            let reader = try #require(try await store.open(stored.digest))
            for (offset, count) in [
                (0, 1), (12_345_677, 1), (65_535, 2), (9_999_999, 131_072), (9_000_000, 65_536), (5, 12_345_673),
            ] {
                #expect(try await reader.read(at: Int64(offset), count: count) == Array(bytes[offset..<(offset + count)]))
            }
            #expect(try await S3Bench.leftovers(in: store).isEmpty)
        }
    }

    @Test("a content of exactly one part, and one of a byte more", arguments: [0, 1])
    func edges(more: Int) async throws {
        let bench = try await S3Bench()
        try await bench.with { store in
            let bytes = S3Bench.bytes((5 << 20) + more)
            let stored = try await S3Bench.store(bytes, in: store)
            #expect(try await S3Bench.read(stored.digest, in: store) == bytes)
            #expect(try await S3Bench.leftovers(in: store).isEmpty)
        }
    }

    @Test("no bytes are a content too")
    func empty() async throws {
        try await S3Bench().with { store in
            let stored = try await ContentStorePromises.store([], in: store)
            #expect(try await store.open(stored.digest)?.size == 0)
        }
    }

    @Test("an upload in parts that is aborted, too long or of a task that was cancelled leaves nothing behind", arguments: 0..<3)
    func aborted(way: Int) async throws {
        let bench = try await S3Bench()
        try await bench.with { store in
            let upload = try await store.beginUpload(limit: 7_000_000)
            try await upload.write(S3Bench.bytes(6_000_000))
            #expect(try await store.client.openUploads("").count == 1)
            switch way {
            case 0: await upload.abort()
            case 1:
                let error = await #expect(throws: ServiceError.self) { try await upload.write(S3Bench.bytes(1_000_001)) }
                #expect(error?.code == .contentTooLarge)
            default:
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    await upload.abort()
                }
                await task.value
            }
            #expect(try await S3Bench.leftovers(in: store).isEmpty)
            await #expect(throws: ServiceError.self) { _ = try await upload.finish() }
        }
    }

    @Test("more uploads than may run are refused, and a finished one makes room")
    func bounded() async throws {
        let bench = try await S3Bench()
        var options = try bench.options()
        options.maximumUploads = 1
        try await bench.with(options) { store in
            var upload: (any ContentUpload)? = try await store.beginUpload(limit: 1)
            let refused = await #expect(throws: ServiceError.self) { _ = try await store.beginUpload(limit: 1) }
            #expect(refused?.code == .overloaded)
            await upload?.abort()
            upload = nil
            _ = try await store.beginUpload(limit: 1)
        }
    }

    @Test("digests come in order and in pages, and two prefixes in a bucket know nothing of each other")
    func lists() async throws {
        let bench = try await S3Bench()
        var digests: [ContentDigest] = []
        try await bench.with { store in
            for byte in UInt8(0)..<7 { digests.append(try await ContentStorePromises.store([byte], in: store).digest) }
            digests.sort { $0.text < $1.text }
            #expect(try await store.digests(after: nil, limit: 100) == digests)
            #expect(try await store.digests(after: nil, limit: 3) == Array(digests[..<3]))
            let (third, last) = (digests[2], digests[6])
            #expect(try await store.digests(after: third, limit: 3) == Array(digests[3..<6]))
            #expect(try await store.digests(after: last, limit: 3).isEmpty)
        }
        for prefix in ["clarion-2", "", "clar"] {
            let options = try bench.options(prefix: prefix)
            try await bench.with(options) { store in
                let found = try await store.digests(after: nil, limit: 100)
                #expect(found.isEmpty)
                let first = digests[0]
                #expect(try await store.open(first) == nil)
                let end = Timestamp(milliseconds: .max)
                #expect(try await store.removeLeftovers(begunBefore: end) == 0)
            }
        }
    }

    @Test("what was cut off is taken away when it is old, and nothing else is")
    func leftovers() async throws {
        let bench = try await S3Bench()
        try await bench.with { store in
            let stored = try await ContentStorePromises.store([1], in: store)
            try await store.client.put(ByteBuffer(string: "left"), at: S3Keys.upload())
            try await store.client.put(ByteBuffer(), at: S3Keys.removal(of: stored.digest))
            let now = SystemClock().now
            #expect(try await store.removeLeftovers(begunBefore: now - .seconds(3600)) == 0)
            let upload = try await store.beginUpload(limit: 7_000_000)
            try await upload.write(S3Bench.bytes(6_000_000))
            // This store says of every upload in parts that it began in 2010.
            #expect(try await store.removeLeftovers(begunBefore: Timestamp(milliseconds: 0)) == 0)
            #expect(try await S3Bench.leftovers(in: store).count == 3)
            #expect(try await store.removeLeftovers(begunBefore: now + .seconds(3600)) == 3)
            #expect(try await S3Bench.leftovers(in: store).isEmpty)
            #expect(try await store.open(stored.digest) != nil)
        }
    }

    @Test("a link opens the content without a key, for as long as it says and at most five minutes")
    func links() async throws {
        let bench = try await S3Bench()
        var options = try bench.options()
        options.handsOutLinks = true
        try await bench.with(options) { store in
            let stored = try await ContentStorePromises.store(Array("picture".utf8), in: store)
            let link = try #require(
                store.link(
                    to: stored.digest, mediaType: "image/png", disposition: "attachment; filename=\"a b.png\"",
                    lifetime: .seconds(9999)))
            #expect(link.contains("X-Amz-Expires=300&"))
            let answer = try await bench.get(link)
            #expect(answer.status == .ok)
            #expect(answer.body == Array("picture".utf8))
            #expect(answer.headers.first(name: "Content-Type") == "image/png")
            #expect(answer.headers.first(name: "Content-Disposition") == "attachment; filename=\"a b.png\"")
            let forged = link.replacing("image%2Fpng", with: "text%2Fhtml")
            #expect(try await bench.get(forged).status == .forbidden)
        }
    }
}
