import AppBackend
import PushHub
import RichPushModel
import Testing

/// What holds of a notification after it was stored.
extension NotificationStorePromises {
    private static func work(_ store: any BackendStore, at seconds: Int64, limit: Int = 20) async throws -> [String] {
        try await store.dueWork(at: Sample.time(seconds), limit: limit).map { "\($0.task.rawValue) \($0.id)" }
    }

    static let recalls = StoragePromise<any BackendStore>(
        "a recall holds once, the notification is no longer found, and it is cancelled at the hub that has it"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for _ in 0..<3 { _ = try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store) }
        #expect(try await store.markSent(id(1), trackingID: NotificationID(), check: Sample.time(10)))
        for number in [Int32(1), 2] {
            #expect(try await store.recall(id(number), at: Sample.time(5), contentExpiry: Sample.time(5)))
            #expect(try await !store.recall(id(number), at: Sample.time(6), contentExpiry: Sample.time(6)))
            #expect(try await store.notification(id(number))?.recalledAt == Sample.time(5))
        }
        #expect(try await !store.recall(id(9), at: Sample.time(5), contentExpiry: Sample.time(5)))
        #expect(try await store.find(query(["t:a"], ada)).map(\.id.number) == [3])
        #expect(try await work(store, at: 5).contains("cancel 1"))
        #expect(
            try await !store.markSent(id(2), trackingID: NotificationID(), check: Sample.time(7)),
            "it was recalled")
        #expect(try await work(store, at: 7).contains("cancel 2"))
        for number in [Int32(1), 2] { try await store.markCancelled(id(number), at: Sample.time(9), audit: nil) }
        #expect(try await work(store, at: 100) == ["send 3"])
    }

    static let worksInOrder = StoragePromise<any BackendStore>("work is due oldest first, some at a time, and can be put off") {
        store in
        let ada = try await Sample.user("ada", in: store)
        for seconds in [Int64(3), 1, 2] {
            _ = try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store, at: Sample.time(seconds))
        }
        #expect(try await Self.work(store, at: 0).isEmpty)
        #expect(try await Self.work(store, at: 1000) == ["send 2", "send 3", "send 1"])
        #expect(try await Self.work(store, at: 1000, limit: 1) == ["send 2"])
        func work(_ task: OutboxWork.Task) throws -> OutboxWork { OutboxWork(id: try id(2), task: task, dueAt: Sample.time(1)) }
        try await store.postpone(try work(.send), until: Sample.time(2000))
        #expect(try await Self.work(store, at: 1999) == ["send 3", "send 1"])
        for task in [OutboxWork.Task.track, .cancel] {
            try await store.postpone(try work(task), until: Sample.time(3000))
        }
        let tracking = NotificationID()
        #expect(try await store.markSent(id(3), trackingID: tracking, check: Sample.time(1500)))
        #expect(try await store.notification(id(3))?.trackingID == tracking)
        #expect(try await Self.work(store, at: 1499) == ["send 1"])
        #expect(
            try await Self.work(store, at: 2000) == ["send 1", "send 2", "track 3"], "a question waits for what has to leave")
        let due = try await store.dueWork(at: Sample.time(2000), limit: 9)
        #expect(due.map(\.dueAt) == [Sample.time(3), Sample.time(1), Sample.time(2)])
    }

    static let ends = StoragePromise<any BackendStore>(
        "a completed notification has no work left and stays; a refused one is found no more and releases its content"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        try await store.stage(try Sample.content("c", of: ada), quota: ContentQuota(bytes: 1 << 20), at: Sample.start)
        _ = try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store)
        _ = try await Sample.send(try Sample.draft(from: ada, to: "a", content: "c"), in: store)
        #expect(try await store.markSent(id(1), trackingID: NotificationID(), check: Sample.time(1)))
        try await store.markCompleted(id(1), at: Sample.time(4), order: OrderNumber(7))
        try await store.markRefused(id(2), at: Sample.time(5), audit: nil)
        #expect(try await work(store, at: 100).isEmpty)
        #expect(try await store.notification(id(1))?.completedAt == Sample.time(4))
        #expect(try await store.notification(id(1))?.endOrder == OrderNumber(7))
        #expect(try await store.notification(id(2))?.isRefused == true)
        #expect(try await store.find(query(["t:a"], ada)).map(\.id.number) == [1])
        #expect(try await store.content("c", at: Sample.time(4)) != nil)
        #expect(try await store.content("c", at: Sample.time(5)) == nil)
    }

    static let forgetsIdempotencyKeys = StoragePromise<any BackendStore>(
        "idempotency keys go some at a time when they are old, and then stand for nothing"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for number in 0..<4 {
            _ = try await Sample.send(
                try Sample.draft(from: ada, to: "a", key: Sample.key("k\(number)")), in: store, at: Sample.time(Int64(number)))
        }
        #expect(try await store.removeIdempotencyKeys(before: Sample.time(3), limit: 2) == 2)
        #expect(try await store.removeIdempotencyKeys(before: Sample.time(3), limit: 2) == 1)
        #expect(try await store.removeIdempotencyKeys(before: Sample.time(3), limit: 2) == 0)
        #expect(try await store.repeated(Sample.key("k2"), of: ada.id) == nil)
        #expect(try await store.repeated(Sample.key("k3"), of: ada.id) != nil)
    }
}
