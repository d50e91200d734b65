import ClarionTesting
import ContentStorage
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@Suite("Containers on the disk")
struct DiskContainerStoreTests {
    /// A store in a folder that goes with the test.
    private final class Bench: Sendable {
        let folder = NSTemporaryDirectory() + "clarion-containers-\(UUID().uuidString)"

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func store(_ maximumBytes: Int64 = 1 << 20) throws -> DiskContainerStore {
            try DiskContainerStore(root: folder, maximumBytes: maximumBytes)
        }

        func blob(_ name: String, hub: Int64 = 1, container: String = "box") throws -> BlobReference {
            BlobReference(
                hub: HubID(hub), container: try #require(ContainerName(container)), name: try #require(BlobName(name)))
        }

        func put(_ text: String, _ blob: BlobReference, in store: DiskContainerStore) async throws {
            let upload = try await store.put(blob, limit: .max)
            try await upload.write(Array(text.utf8))
            try await upload.finish()
        }
    }

    @Test("disk:", arguments: ContainerStorePromises.all)
    func promises(_ promise: StoragePromise<ContainerPlace>) async throws {
        let bench = Bench()
        try await promise.check(ContainerPlace { try bench.store($0) })
    }

    @Test("what is used is counted to the byte, uploads under way included, and after a new start what is left")
    func counts() async throws {
        let bench = Bench()
        let store = try bench.store()
        do {
            let upload = try await store.put(try bench.blob("a"), limit: .max)
            try await upload.write(Array("12345".utf8))
            #expect(store.usedBytes == 5)
        }
        // Released once the write has left its thread.
        #expect(await eventually { store.usedBytes == 0 })
        try await bench.put("old", try bench.blob("old"), in: store)
        let blob = try bench.blob("out")
        let slow = try await store.append(to: blob, at: 0)
        let successor = try await store.append(to: blob, at: 0)
        for page in ["first,", "second,", "third"] { try await successor.write(Array(page.utf8)) }
        try await slow.write(Array("first,".utf8))
        #expect(store.usedBytes == 21)
        try await successor.cut(to: 6)
        #expect(store.usedBytes == 9)
        #expect(try bench.store().usedBytes == 9)
        let information = try #require(try await store.open(try bench.blob("old")))
        #expect(try await store.sweep(writtenBefore: information.writtenAt) == 0)
        #expect(try await store.sweep(writtenBefore: information.writtenAt + .milliseconds(1)) >= 1)
        #expect(try await store.open(try bench.blob("old")) == nil)
    }

    @Test(
        "no name leaves the folder",
        arguments: [
            "", ".", "..", "a/../b", "/a", "a/", "a//b", "a\\b", "a%2Fb", "a\0b", "a b", "é", String(repeating: "a", count: 201),
        ])
    func names(text: String) { #expect(BlobName(text) == nil) }
}
