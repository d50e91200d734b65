import AsyncHTTPClient
import ClarionTesting
import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import ContentStorage

@Suite("Counting the files in a bucket")
struct BucketCounterTests {
    /// Delays listings of all files; the first one without limit, if that is wanted.
    private struct CountGate: S3Transport {
        let inner: any S3Transport
        let gate: Gate
        let hangs: Bool

        func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse {
            if request.url.hasSuffix("files%2F") || request.url.contains("files%2F&") {
                await gate.pass()
                if hangs, gate.arrivals == 1 { try await SystemClock().sleep(for: .seconds(86_400)) }
            }
            return try await inner.exchange(request, within: time)
        }

        func shutDown() async {}
    }

    /// Time that passes only when the test says so. The time of day is the system's: a store compares it with its own.
    private struct StandingClock: ServiceClock {
        let manual: ManualClock
        var now: Timestamp { SystemClock().now }
        var uptime: Duration { manual.uptime }
        func sleep(for duration: Duration) async throws { try await manual.sleep(for: duration) }
    }

    /// A store whose counts wait at a gate, beside one that does not.
    private func with(
        slots: Int = 16, clock: ManualClock? = nil, hangs: Bool = false,
        _ body: (_ store: S3ContainerStore, _ gate: Gate, _ before: S3ContainerStore) async throws -> Void
    ) async throws {
        try await S3Bench().with { contents in
            let before = S3ContainerStore(beside: contents, maximumBytes: 30)
            try await before.count()
            let gate = Gate(isOpen: false)
            var options = contents.client.options
            options.maximumUploads = slots
            let client = S3Client(
                options, transport: CountGate(inner: contents.client.transport, gate: gate, hangs: hangs),
                clock: clock.map { StandingClock(manual: $0) } ?? SystemClock())
            try await body(S3ContainerStore(client, maximumBytes: 30), gate, before)
        }
    }

    /// Stores a file of so many bytes; whether there was room.
    private func put(_ count: Int, _ name: String, hub: Int64 = 1, in store: S3ContainerStore) async throws -> Bool {
        do {
            let blob = BlobReference(hub: HubID(hub), container: .feedback, name: try #require(BlobName(name)))
            let upload = try await store.put(blob, limit: .max)
            try await upload.write(Array(repeating: 1, count: count))
            try await upload.finish()
            return true
        } catch let error as ServiceError where error.code == .quotaExceeded { return false }
    }

    /// Waits until so many calls wait for the first count.
    private func awaitWaiters(_ count: Int, _ store: S3ContainerStore) async {
        #expect(await eventually { store.space.waiters == count })
    }

    @Test("before the first count nothing is stored on a guess, and it is counted once for all waiting callers")
    func firstCount() async throws {
        // No timeout passes here, however slow the machine is.
        try await with(clock: ManualClock()) { store, gate, before in
            #expect(try await put(14, "old", in: before))
            #expect(try await put(1, "old", hub: 2, in: before))
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 { group.addTask { try await put(8, "new\(number)", in: store) } }
                await awaitWaiters(8, store)
                #expect(store.usedBytes == 0 && gate.arrivals == 0, "no request lists the bucket")
                group.addTask {
                    try await store.count()
                    return false
                }
                await gate.holds(1)
                gate.open()
                let stored = try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                #expect(stored == 0, "the hub has its share already")
            }
            #expect(gate.arrivals <= 2, "one count, of one page and its end")
            #expect(store.usedBytes == 15)
        }
    }

    @Test("who waits for the first count keeps no upload from others, and leaves as soon as the caller does")
    func cancellation() async throws {
        try await with(slots: 1, clock: ManualClock()) { store, gate, _ in
            await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<3 { group.addTask { try await put(1, "new\(number)", in: store) } }
                await awaitWaiters(3, store)
                group.cancelAll()
                for _ in 0..<3 { await #expect(throws: CancellationError.self) { _ = try await group.next() } }
            }
            #expect(store.space.waiters == 0)
            gate.open()
            try await store.count()
            #expect(try await put(1, "last", in: store))
        }
    }

    @Test("a caller waits for a slow first count for a few seconds only")
    func firstCountTimeout() async throws {
        let clock = ManualClock()
        try await with(clock: clock) { store, gate, _ in
            let late = await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await put(1, "new", in: store) }
                await awaitWaiters(1, store)
                #expect(await eventually { clock.sleeperCount > 0 })
                clock.advance(by: BucketSpace.firstCountTimeout)
                return await #expect(throws: ServiceError.self) { _ = try await group.next() }
            }
            #expect(late?.code == .storageUnavailable)
            #expect(late?.retryAfter != nil)
            #expect(late?.detail?.contains("still being counted") == true)
            #expect(gate.arrivals == 0)
        }
    }

    @Test("a slow count delays no caller after an earlier one, and what is stored meanwhile counts")
    func later() async throws {
        try await with { store, gate, before in
            gate.open()
            try await store.count()
            #expect(try await put(2, "others", hub: 2, in: before))
            gate.close()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.count() }
                await gate.holds(1)
                #expect(try await put(1, "new", in: store) && store.usedBytes == 1)
                gate.open()
                try await group.waitForAll()
            }
            #expect(store.usedBytes >= 3 && store.usedBytes <= 4, "the count may have seen the new file as well")
        }
    }

    @Test("the counter goes on after a count that failed and after one that hangs, and ends with its task")
    func counter() async throws {
        let clock = ManualClock()
        try await with(clock: clock, hangs: true) { store, gate, _ in
            gate.open()
            let faults = NIOLockedValueBox<[any Error]>([])
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await store.keepCounting { fault in faults.withLockedValue { $0.append(fault) } } }
                #expect(await eventually { gate.arrivals > 0 && clock.sleeperCount > 0 })
                clock.advance(by: BucketCounter.deadline)
                #expect(await eventually { faults.withLockedValue({ !$0.isEmpty }) })
                let sentence = (faults.withLockedValue { $0.first } as? ServiceError)?.detail
                #expect(sentence?.contains("half an hour") == true)
                #expect(await eventually { clock.sleeperCount > 0 })
                #expect(!store.space.isCounted)
                clock.advance(by: .seconds(1))
                #expect(await eventually { store.space.isCounted })
                group.cancelAll()
            }
            #expect(faults.withLockedValue { $0.count } == 1)
        }
    }

    @Test("counting takes a tenth of the time at most, and failures are repeated less and less often, each at its own moment")
    func pauses() {
        #expect(BucketCounter.pause(after: .zero, failures: 0, jitter: 0) == .seconds(60))
        #expect(BucketCounter.pause(after: .seconds(100), failures: 0, jitter: 0) == .seconds(900))
        #expect(BucketCounter.pause(after: .seconds(100), failures: 0, jitter: 1) == .seconds(675))
        let waits = [1, 2, 3, 6, 7, 40].map { BucketCounter.pause(after: .seconds(100), failures: $0, jitter: 0) }
        #expect(waits == [1, 2, 4, 32, 60, 60].map { Duration.seconds($0) })
        #expect(BucketCounter.pause(after: .zero, failures: 3, jitter: 1) == .seconds(2))
    }
}
