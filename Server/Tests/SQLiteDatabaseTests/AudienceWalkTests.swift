import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import TagExpressions
import Testing

import struct RichPushModel.Tag

@Suite("The walk over an audience")
struct AudienceWalkTests {
    private let hub = HubID(1)
    private let start = Timestamp(seconds: 1_800_000_000)

    @Test("an index entry whose record is gone does not end the walk")
    func orphans() async throws {
        let store = try await TemporaryStore()
        let keys = try await fill(store, count: 1_500)
        let gone = keys[500]
        _ = try await store.database.write { connection in
            try connection.run(
                SQLStatement("DELETE FROM devices WHERE hub_id = $1 AND slice_key = $2"),
                [.integer(hub.number), .integer(gone.number)])
        }
        #expect(try await walked(store) == keys.filter { $0 != gone })
    }

    private func fill(_ store: TemporaryStore, count: Int) async throws -> [SliceKey] {
        let tag = try #require(Tag("news"))
        var keys: [SliceKey] = []
        for number in 0..<count {
            let handle = DeviceHandle(canonical: String(repeating: "0", count: 60) + String(1_000 + number))
            let upsert = DeviceUpsert(
                id: try #require(RecordID("d\(number)")), kind: .installation, handle: handle, tags: [tag])
            keys.append(try await store.hub.devices.upsert(upsert, in: hub, at: start).record.sliceKey)
        }
        return keys.sorted()
    }

    /// The keys that a send to two tags passes, page by page.
    private func walked(_ store: TemporaryStore) async throws -> [SliceKey] {
        let send = AcceptedSend(
            hub: hub, id: NotificationID(),
            message: AcceptedMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), pushType: "alert", priority: 10),
            audience: try TagExpression(parsing: "news || sports"), enqueuedAt: start, dueAt: start,
            slices: SlicePlan(audience: 1_500))
        _ = try await store.hub.intake.accept(send)
        let request = LeaseRequest(
            owner: "a", now: start, until: start + .seconds(60), limit: 1, smallLimit: 1, largeLimit: 1, singleLimit: 1)
        var lease = try #require(try await store.hub.queue.lease(request).first)
        var passed: [SliceKey] = []
        while lease.cursor < lease.last {
            let page = try await store.hub.queue.page(
                PageRequest(lease: lease, now: start, limit: 1_000, scanLimit: 10_000, pendingLimit: 50))
            guard case .walk(let walk) = page?.work else { break }
            passed += walk.candidates.map(\.member.key)
            lease.cursor = walk.through
        }
        return passed
    }
}
