import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import StorageConformance
import Testing

@testable import PushHub

@Suite("The leased slices that a dispatcher reports")
struct HeldSlicesTests {
    /// A queue that remembers what it was asked for.
    private final class AskedQueue: SliceQueue {
        private let inner: any SliceQueue
        private let asked = NIOLockedValueBox<[LeaseRequest]>([])

        init(_ inner: any SliceQueue) { self.inner = inner }

        var requests: [LeaseRequest] { asked.withLockedValue { $0 } }

        func lease(_ request: LeaseRequest) async throws -> [SliceLease] {
            asked.withLockedValue { $0.append(request) }
            return try await inner.lease(request)
        }

        func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool { try await inner.renew(lease, until: until) }
        func count(_ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp) async throws -> Set<
            SliceKey
        > {
            try await inner.count(targets, for: cap, of: slice, at: now)
        }
        func page(_ request: PageRequest) async throws -> SlicePage? { try await inner.page(request) }
        func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer { try await inner.checkpoint(checkpoint) }
        func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
            try await inner.releaseAll(of: owner, at: now)
        }
        func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
            try await inner.release(of: owner, except: kept)
        }
    }

    @Test("each request for work names the leased slices of each kind and hub, and no more when they are done")
    func held() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<20)
        let queue = AskedQueue(bench.store.hub.queue)
        let dispatcher = bench.dispatcher(queue)
        for number in 0..<3 {
            try await bench.register(100 + number, tags: ["one:\(number)"])
            _ = try await bench.send(to: "one:\(number)")
        }
        _ = try await bench.send()
        let isFirst = NIOLockedValueBox(true)
        bench.transport.beforeAnswer {
            let first = isFirst.withLockedValue { first in
                defer { first = false }
                return first
            }
            if first { _ = await dispatcher.pass() }
            // None is done before that.
            #expect(await eventually { queue.requests.count >= 2 })
        }
        #expect(await dispatcher.pass() == 4)
        _ = await dispatcher.pass()
        #expect(queue.requests.map(\.held) == [[:], [.single: [bench.hubID: 3], .small: [bench.hubID: 1]], [:]])
    }

    @Test("a hub with leased slices comes after one without, as the dispatcher asks")
    func turns() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<20)
        let other = try await bench.store.hub.hubs.ensureHub(named: "other", at: bench.clock.now)
        for number in 0..<6 {
            try await bench.register(100 + number, tags: ["one:\(number)"])
            _ = try await bench.send(to: "one:\(number)")
        }
        // With a device, so that its slice waits for the push service like the others and keeps its slot until then.
        let device = DeviceUpsert(id: try #require(RecordID("other-1")), kind: .installation, handle: HubBench.handle(900))
        _ = try await bench.store.hub.devices.upsert(device, in: other, at: bench.clock.now)
        let dispatcher = bench.dispatcher { $0.singleSlots = 3 }
        let late = try await bench.accept(in: other)
        let isFirst = NIOLockedValueBox(true)
        let hasLooked = NIOLockedValueBox(false)
        bench.transport.beforeAnswer {
            let first = isFirst.withLockedValue { first in
                defer { first = false }
                return first
            }
            if first {
                // All slots are taken; what the other hub waits for is not forgotten meanwhile.
                #expect(await dispatcher.pass() == 0)
                hasLooked.withLockedValue { $0 = true }
            }
            // None gives its slot back before that.
            #expect(await eventually { hasLooked.withLockedValue({ $0 }) })
        }
        #expect(await dispatcher.pass() == 3)
        #expect(try await bench.store.hub.telemetry.telemetry(of: late, in: other, at: bench.clock.now)?.state.isFinal == true)
    }
}
