import AppBackend
import AsyncHTTPClient
import ClarionTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceErrors
import StorageConformance
import Testing

@testable import ContentStorage

/// What a network and a store do to each other, through a proxy that breaks what passes.
@Suite("An S3 store that fails")
struct S3FaultTests {
    private static let slowDown =
        "HTTP/1.1 503 Slow Down\r\nContent-Length: 36\r\nConnection: close\r\n\r\n<Error><Code>SlowDown</Code></Error>"

    /// Runs the body with a store behind a proxy, and one beside it.
    private func run(
        _ change: (inout S3Options) -> Void = { _ in },
        _ body: (S3ContentStore, FaultProxy) async throws -> Void
    ) async throws {
        let bench = try await S3Bench()
        let proxy = try await FaultProxy(to: bench.server.plain)
        var options = try bench.options(port: proxy.port)
        change(&options)
        try await bench.with(options) { try await body($0, proxy) }
        try await proxy.stop()
    }

    @Test("an upload that is cut in the middle is sent again, in one piece or in parts", arguments: [3_000_000, 11_000_000])
    func cutUpload(count: Int) async throws {
        try await run { store, proxy in
            let bytes = S3Bench.bytes(count, seed: UInt64(count))
            proxy.set(.cutToServer(after: 1_000_000, times: 2))
            let stored = try await S3Bench.store(bytes, in: store)
            #expect(proxy.accepted > 2)
            #expect(try await S3Bench.read(stored.digest, in: store) == bytes)
            #expect(try await S3Bench.leftovers(in: store).isEmpty)
        }
    }

    /// Loses the answer to the first completion of an upload in parts.
    private struct LosingTransport: S3Transport {
        let inner: any S3Transport
        let lost = NIOLockedValueBox(false)

        func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse {
            let answer = try await inner.exchange(request, within: time)
            guard request.method == .POST, request.url.contains("uploadId="), !lost.withLockedValue({ $0 }) else { return answer }
            _ = try await answer.body.collect(upTo: 1 << 20)
            lost.withLockedValue { $0 = true }
            throw S3Fault.broken
        }

        func shutDown() async { await inner.shutDown() }
    }

    @Test("an upload in parts that the store completed, but whose answer was lost, is stored")
    func lostCompletion() async throws {
        let options = try await S3Bench().options()
        let transport = LosingTransport(inner: try S3HTTPTransport(options, group: MultiThreadedEventLoopGroup.singleton))
        let store = S3ContentStore(S3Client(options, transport: transport, clock: .system))
        let bytes = S3Bench.bytes(6_000_000)
        let stored = try await S3Bench.store(bytes, in: store)
        #expect(transport.lost.withLockedValue { $0 })
        #expect(try await S3Bench.read(stored.digest, in: store) == bytes)
        #expect(try await S3Bench.leftovers(in: store).isEmpty)
        await store.shutDown()
    }

    @Test("a download that is cut goes on where it stopped", arguments: [100_000, 3_000_000])
    func cutDownload(after count: Int) async throws {
        try await run { store, proxy in
            let bytes = S3Bench.bytes(9_000_000)
            let stored = try await S3Bench.store(bytes, in: store)
            proxy.set(.cutToClient(after: count, times: 3))
            let before = proxy.accepted
            #expect(try await S3Bench.read(stored.digest, in: store) == bytes)
            #expect(proxy.accepted >= before + 3)
        }
    }

    @Test("an answer that is cut before it is whole is asked for again")
    func cutAnswer() async throws {
        try await run { store, proxy in
            proxy.set(.cutToClient(after: 60, times: 1))
            let stored = try await ContentStorePromises.store([1, 2, 3], in: store)
            proxy.set(.cutToClient(after: 60, times: 1))
            #expect(try await store.digests(after: nil, limit: 5) == [stored.digest])
        }
    }

    @Test("503 and then success is success")
    func busy() async throws {
        try await run { store, proxy in
            proxy.set(.answer(Self.slowDown, times: 3))
            let stored = try await ContentStorePromises.store([1, 2, 3], in: store)
            proxy.set(.answer(Self.slowDown, times: 3))
            #expect(try await store.open(stored.digest)?.size == 3)
        }
    }

    @Test("503 without end is an error that says so and can be tried again")
    func busyForEver() async throws {
        try await run { store, proxy in
            proxy.set(.answer(Self.slowDown, times: .max))
            let upload = try await store.beginUpload(limit: 3)
            try await upload.write([1])
            let error = await #expect(throws: ServiceError.self) { _ = try await upload.finish() }
            #expect(error?.code == .storageUnavailable)
            #expect(error?.retryAfter == 5)
            #expect(error?.detail?.contains("SlowDown") == true)
            #expect(proxy.accepted == 1 + S3RetryPlan.maximumRetries)
        }
    }

    @Test("a store that says nothing costs the deadline and no more")
    func silent() async throws {
        try await run { options in
            options.attemptDeadline = .milliseconds(200)
            options.requestDeadline = .milliseconds(700)
        } _: { store, proxy in
            proxy.set(.silence)
            let digest = try #require(ContentDigest(String(repeating: "0", count: 64)))
            let error = await #expect(throws: ServiceError.self) { _ = try await store.open(digest) }
            #expect(error == S3Fault.timedOut.serviceError)
        }
    }

    @Test("a store that is gone is an error at once, and the next call finds it when it is back")
    func gone() async throws {
        try await run { store, proxy in
            let stored = try await ContentStorePromises.store([1, 2, 3], in: store)
            try await proxy.stop()
            for _ in 0..<2 {
                let error = await #expect(throws: ServiceError.self) { _ = try await store.open(stored.digest) }
                #expect(error?.code == .storageUnavailable)
                #expect(error?.detail?.contains("nothing answers") == true)
            }
            try await proxy.restart()
            #expect(try await store.open(stored.digest)?.size == 3)
            #expect(try await ContentStorePromises.store([1, 2, 3], in: store) == stored)
        }
    }

    @Test("a reader that stops leaves the rest at the store")
    func backPressure() async throws {
        try await run { store, proxy in
            let bytes = S3Bench.bytes(48 << 20)
            let stored = try await S3Bench.store(bytes, in: store)
            let before = proxy.bytesToClient
            let reader = try #require(try await store.open(stored.digest))
            for chunk in 0..<3 { _ = try await reader.read(at: Int64(chunk) * 65_536, count: 65_536) }
            // Nothing asks for more from here on; what is under way has time to come.
            let digests = try await store.digests(after: nil, limit: 5)
            for _ in 0..<20 { #expect(try await store.digests(after: nil, limit: 5) == digests) }
            #expect(proxy.bytesToClient - before < 32 << 20)
            let rest = try await reader.read(at: 3 * 65_536, count: 65_536)
            #expect(rest == Array(bytes[(3 * 65_536)..<(4 * 65_536)]))
        }
    }

    @Test("more readers than may have a stream get the same bytes piece by piece")
    func fewStreams() async throws {
        try await run {
            $0.maximumStreams = 1
        } _: { store, _ in
            let bytes = S3Bench.bytes(1_000_000)
            let stored = try await S3Bench.store(bytes, in: store)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<6 { group.addTask { try await S3Bench.read(stored.digest, in: store) == bytes } }
                for try await isSame in group { #expect(isSame) }
            }
        }
    }
}
