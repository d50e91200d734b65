import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@testable import ContentStorage

@Suite("Files of jobs on an S3 store")
struct S3ContainerStoreTests {
    private static func blob(_ name: String, hub: Int64 = 1) throws -> BlobReference {
        BlobReference(hub: HubID(hub), container: .feedback, name: try #require(BlobName(name)))
    }

    private static func put(_ bytes: [UInt8], _ blob: BlobReference, in store: S3ContainerStore) async throws {
        let upload = try await store.put(blob, limit: .max)
        var rest = bytes[...]
        while !rest.isEmpty {
            try await upload.write(Array(rest.prefix(60_000)))
            rest = rest.dropFirst(60_000)
        }
        try await upload.finish()
    }

    private static func bytes(_ blob: BlobReference, in store: S3ContainerStore) async throws -> [UInt8]? {
        guard let file = try await store.open(blob) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < Int(file.size) {
            bytes += try await file.read(at: Int64(bytes.count), count: min(65_536, Int(file.size) - bytes.count))
        }
        return bytes
    }

    /// The store once it knows what lies there.
    private static func counted(_ store: S3ContainerStore) async throws -> S3ContainerStore {
        try await store.count()
        return store
    }

    @Test("S3:", arguments: ContainerStorePromises.all)
    func promises(_ promise: StoragePromise<ContainerPlace>) async throws {
        try await S3Bench().with { contents in
            try await promise.check(
                ContainerPlace { try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: $0)) })
        }
    }

    @Test("a large file goes in parts, is read in order and anywhere, and can be cut")
    func large() async throws {
        let bench = try await S3Bench()
        var options = try bench.options()
        options.copyBytes = 5 << 20
        try await bench.with(options) { contents in
            let store = try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: 1 << 30))
            let (blob, bytes) = (try Self.blob("in.txt"), S3Bench.bytes(12_345_678))
            try await Self.put(bytes, blob, in: store)
            #expect(try await Self.bytes(blob, in: store) == bytes)
            let file = try #require(try await store.open(blob))
            for (offset, count) in [(12_345_677, 1), (9_999_999, 131_072), (5, 12_345_673)] {
                #expect(try await file.read(at: Int64(offset), count: count) == Array(bytes[offset..<(offset + count)]))
            }
            let appending = try await store.append(to: blob, at: 0)
            for size in [11_000_000, 5, 0] {
                try await appending.cut(to: Int64(size))
                #expect(try await Self.bytes(blob, in: store) == Array(bytes[..<size]))
                #expect(store.usedBytes == Int64(size))
            }
        }
    }

    @Test("a large upload that is let go of, or finds no room, leaves nothing in the bucket")
    func abandoned() async throws {
        let bench = try await S3Bench()
        try await bench.with { contents in
            let store = try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: 16_000_000))
            do {
                let upload = try await store.put(try Self.blob("a"), limit: .max)
                try await upload.write(S3Bench.bytes(6_000_000))
                #expect(try await contents.client.openUploads("").count == 1)
                #expect(store.usedBytes == 6_000_000)
            }
            #expect(store.usedBytes == 0)
            await #expect(throws: ServiceError.self) {
                try await Self.put(S3Bench.bytes(8_500_000), try Self.blob("a"), in: store)
            }
            #expect(store.usedBytes == 0)
            // What was let go of is taken back a moment later; what could not be, by the sweep of a day later.
            for _ in 0..<500 where try await !contents.client.openUploads("").isEmpty {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await contents.client.openUploads("").isEmpty)
            _ = try await contents.client.begin(S3FileKeys.whole(try Self.blob("cut-off")))
            #expect(try await contents.removeLeftovers(begunBefore: Timestamp(milliseconds: .max)) == 1)
            #expect(try await contents.client.list("").isEmpty)
        }
    }

    @Test("what other nodes store and remove counts from the next count on, what this one does counts at once")
    func space() async throws {
        try await S3Bench().with { contents in
            let store = try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: 30))
            let other = try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: 30))
            let small = Array("x".utf8)
            try await Self.put(small, try Self.blob("a", hub: 2), in: store)
            try await Self.put(Array(repeating: 1, count: 14), try Self.blob("a"), in: other)
            #expect(store.usedBytes == 1)
            try await Self.put(small, try Self.blob("b", hub: 2), in: store)
            #expect(store.usedBytes == 2)
            try await store.count()
            await #expect(throws: ServiceError.self) { try await Self.put(small, try Self.blob("c"), in: store) }
            #expect(store.usedBytes == 16)
            #expect(try await other.remove(try Self.blob("a")))
            try await store.count()
            try await Self.put(small, try Self.blob("c"), in: store)
            #expect(store.usedBytes == 3)
        }
    }

    @Test("contents and files in one bucket know nothing of each other")
    func beside() async throws {
        let bench = try await S3Bench()
        try await bench.with { contents in
            let store = try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: 1000))
            let stored = try await ContentStorePromises.store([1, 2], in: contents)
            try await Self.put([3], try Self.blob("a"), in: store)
            #expect(try await contents.digests(after: nil, limit: 9) == [stored.digest])
            #expect(try await contents.removeLeftovers(begunBefore: Timestamp(milliseconds: .max)) == 0)
            #expect(try await store.sweep(writtenBefore: Timestamp(milliseconds: .max)) == 1)
            #expect(try await contents.open(stored.digest) != nil)
        }
    }

    @Test("a page that was lost on the way is an error in between, and there after a repetition")
    func broken() async throws {
        let bench = try await S3Bench()
        let proxy = try await FaultProxy(to: bench.server.plain)
        var options = try bench.options(port: proxy.port)
        (options.requestDeadline, options.attemptDeadline) = (.seconds(15), .seconds(7))
        try await bench.with(options) { contents in
            let store = try await Self.counted(S3ContainerStore(beside: contents, maximumBytes: 1000))
            let file = try await store.append(to: try Self.blob("out"), at: 0)
            try await file.write([1, 2])
            proxy.set(.answer("HTTP/1.1 503 Gone\r\nContent-Length: 0\r\n\r\n", times: 1000))
            let away = await #expect(throws: ServiceError.self) { try await file.write([3, 4]) }
            #expect(away?.code == .storageUnavailable)
            #expect(store.usedBytes == 2)
            await #expect(throws: ServiceError.self) { _ = try await store.open(try Self.blob("out")) }
            proxy.set(.none)
            // The same place again: what failed moved nothing.
            try await file.write([3, 4])
            #expect(try await Self.bytes(try Self.blob("out"), in: store) == [1, 2, 3, 4])
        }
        try await proxy.stop()
    }
}
