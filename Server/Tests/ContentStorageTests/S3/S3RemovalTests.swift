import AppBackend
import AsyncHTTPClient
import NIOPosix
import RichPushModel
import StorageConformance
import Testing

@testable import ContentStorage

@Suite("Removing from a store without locks")
struct S3RemovalTests {
    /// Calls closures before and after each request.
    private struct Watched: S3Transport {
        let inner: any S3Transport
        var before: @Sendable (String) async throws -> Void = { _ in }
        var after: @Sendable (String) async throws -> Void = { _ in }

        func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse {
            let words = "\(request.method.rawValue) \(request.url)"
            try await before(words)
            let answer = try await inner.exchange(request, within: time)
            try await after(words)
            return answer
        }

        func shutDown() async {}
    }

    /// Two nodes on one bucket.
    private func nodes(
        _ body: (_ content: StoredBytes, _ make: (Watched) -> S3ContentStore, _ transport: any S3Transport) async throws -> Void
    ) async throws {
        let bench = try await S3Bench()
        let options = try bench.options()
        let stored = try await bench.with(options) { try await ContentStorePromises.store([1, 2, 3], in: $0) }
        let transport = try S3HTTPTransport(options, group: MultiThreadedEventLoopGroup.singleton)
        do {
            try await body(
                stored, { S3ContentStore(S3Client(options, transport: $0, clock: .system)) }, transport)
            await transport.shutDown()
        } catch {
            await transport.shutDown()
            throw error
        }
    }

    private static let later = Timestamp(milliseconds: .max)

    @Test("bytes that another node stores again just before they are removed are there afterwards")
    func arrivesDuring() async throws {
        try await nodes { stored, make, transport in
            let (isPlaced, placed) = AsyncStream<Void>.makeStream()
            let writer = make(
                Watched(
                    inner: transport,
                    after: { if $0.hasPrefix("PUT "), $0.contains("/objects/") { placed.yield() } }))
            let (tasks, task) = AsyncStream<Task<StoredBytes, any Error>>.makeStream()
            let remover = make(
                Watched(
                    inner: transport,
                    before: { words in
                        guard words.hasPrefix("DELETE "), words.contains("/objects/") else { return }
                        // The remover has looked and decided. Now the other node writes, and only then the removal happens.
                        task.yield(
                            Task {
                                defer { placed.finish() }
                                return try await ContentStorePromises.store([1, 2, 3], in: writer)
                            })
                        for await _ in isPlaced { break }
                    }))
            _ = try await remover.remove(stored.digest, storedBefore: Self.later)
            task.finish()
            var writes = 0
            for await task in tasks {
                #expect(try await task.value == stored)
                writes += 1
            }
            #expect(writes == 1)
            let reader = try await writer.open(stored.digest)
            #expect(reader?.size == 3)
        }
    }

    @Test("bytes that another node stored after the remover looked first are not removed")
    func arrivesBefore() async throws {
        try await nodes { stored, make, transport in
            let store = make(Watched(inner: transport))
            let middle = try await #require(store.client.state(of: S3Keys.object(stored.digest))).writtenAt + .seconds(1)
            let remover = make(
                Watched(
                    inner: transport,
                    before: { words in
                        guard words.hasPrefix("PUT "), words.contains("/removing/") else { return }
                        // The store reports whole seconds; the new bytes have to be visibly newer.
                        try await Task.sleep(for: .milliseconds(1100))
                        _ = try await ContentStorePromises.store([1, 2, 3], in: store)
                    }))
            let isGone = try await remover.remove(stored.digest, storedBefore: middle)
            #expect(!isGone)
            let reader = try await store.open(stored.digest)
            #expect(reader?.size == 3)
            let left = try await S3Bench.leftovers(in: store)
            #expect(left.isEmpty)
        }
    }
}
