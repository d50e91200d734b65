import PushHub
import RichPushModel
import Testing

/// What a queue promises so that the pace of a send holds over all nodes.
extension SliceQueuePromises {
    static let ofPace: [StoragePromise<HubStorage>] = [sharesPace, leasesPacedToOne, handsPaceOn, paysForTheDead]

    private static let sharesPace = StoragePromise<HubStorage>("the slices of a paced send have its pace between them") {
        storage in
        let send = try Sample.send(size: 20_000, pace: 5_001)
        _ = try await storage.intake.accept(send)
        let shares = try await storage.queue.lease(Sample.lease(100)).map(\.pushesPerSecond)
        #expect(shares == [1_667, 1_667, 1_667])
        _ = try await storage.intake.accept(try Sample.send())
        #expect(try await storage.queue.lease(Sample.lease(100)).map(\.pushesPerSecond) == [nil])
    }

    private static let leasesPacedToOne = StoragePromise<HubStorage>("nodes that lease at once get a slice each or none") {
        storage in
        let sends = try (0..<4).map { _ in try Sample.send(size: 20_000, pace: 4_000) }
        for send in sends { _ = try await storage.intake.accept(send) }
        let leases = try await withThrowingTaskGroup(of: [SliceLease].self) { group in
            for owner in ["a", "b", "c", "d"] {
                group.addTask {
                    var mine: [SliceLease] = []
                    // A caller that finds all slices leased asks again, as a node does.
                    for _ in 0..<20 { mine += try await storage.queue.lease(Sample.lease(3, owner: owner)) }
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(leases.count == 8 && Set(leases.map(\.id)).count == 8)
        #expect(leases.reduce(0) { $0 + ($1.pushesPerSecond ?? 0) } == 16_000)
    }

    private static let handsPaceOn = StoragePromise<HubStorage>("a paced slice that was handed back waits for every node") {
        storage in
        _ = try await storage.intake.accept(try Sample.send(pace: 1))
        let lease = try #require(try await storage.queue.lease(Sample.lease(1)).first)
        let back = SliceCheckpoint(lease: lease, now: Sample.start, disposition: .release(notBefore: Sample.time(1)))
        #expect(try await storage.queue.checkpoint(back) == .stored(ended: nil))
        let early = Sample.lease(1, at: Sample.time(1) - .milliseconds(1), owner: "b")
        #expect(try await storage.queue.lease(early).isEmpty)
        #expect(try await storage.queue.lease(Sample.lease(1, at: Sample.time(1), owner: "b")).count == 1)
    }

    private static let paysForTheDead = StoragePromise<HubStorage>(
        "a paced slice of a node that died waits for what may have left, another does not"
    ) { storage in
        for owner in ["a", nil] {
            let paced = try Sample.send(pace: 1)
            let free = try Sample.send()
            for send in [paced, free] { _ = try await storage.intake.accept(send) }
            #expect(try await storage.queue.lease(Sample.lease(2)).count == 2)
            #expect(try await storage.queue.releaseAll(of: owner, at: Sample.time(2)) == 2)
            let first = try await storage.queue.lease(Sample.lease(2, at: Sample.time(2)))
            #expect(first.map(\.id.notification) == [free.id])
            let second = try await storage.queue.lease(Sample.lease(2, at: Sample.time(3)))
            #expect(second.map(\.id.notification) == [paced.id])
            for lease in first + second {
                _ = try await storage.queue.checkpoint(SliceCheckpoint(lease: lease, now: Sample.time(3), disposition: .finish))
            }
        }
    }
}
