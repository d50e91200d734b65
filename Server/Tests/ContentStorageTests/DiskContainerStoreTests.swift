import ContentStorage
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
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

        func put(_ text: String, _ blob: BlobReference, in store: DiskContainerStore, limit: Int64 = .max) async throws {
            let upload = try await store.put(blob, limit: limit)
            for byte in text.utf8 { try await upload.write([byte]) }
            try await upload.finish()
        }

        func text(_ blob: BlobReference, in store: DiskContainerStore) async throws -> String? {
            guard let file = try await store.open(blob) else { return nil }
            return String(decoding: try await file.read(at: 0, count: Int(file.size)), as: UTF8.self)
        }
    }

    @Test("a file is there once it is complete, and replaces one of its name")
    func puts() async throws {
        let bench = Bench()
        let store = try bench.store()
        let blob = try bench.blob("demo/17/in.txt")
        let upload = try await store.put(blob, limit: 10)
        try await upload.write(Array("first".utf8))
        #expect(try await store.open(blob) == nil)
        try await upload.finish()
        #expect(try await bench.text(blob, in: store) == "first")
        try await bench.put("2nd", blob, in: store)
        #expect(try await bench.text(blob, in: store) == "2nd")
        #expect(store.usedBytes == 3)
        #expect(try await store.open(try bench.blob("demo/17/in.txt", hub: 2)) == nil)
        #expect(try await store.open(try bench.blob("demo/17/in.txt", container: "other")) == nil)
    }

    @Test("an upload that is not finished, too long or without room leaves nothing behind")
    func refuses() async throws {
        let bench = Bench()
        let store = try bench.store(20)
        do {
            let upload = try await store.put(try bench.blob("a"), limit: .max)
            try await upload.write(Array("12345".utf8))
        }
        #expect(store.usedBytes == 0)
        await #expect(throws: ServiceError(.payloadTooLarge, "a file has at most 3 bytes")) {
            try await bench.put("1234", try bench.blob("a"), in: store, limit: 3)
        }
        await #expect(throws: ServiceError.self) { try await bench.put("12345678901", try bench.blob("a"), in: store) }
        #expect(store.usedBytes == 0)
        try await bench.put("1234567890", try bench.blob("a"), in: store)
        let appending = try await store.append(to: try bench.blob("b"), at: 0)
        await #expect(throws: ServiceError.self) { try await appending.write([1]) }
    }

    @Test("a hub has as much room as it leaves to others, and what it had before a start counts")
    func shares() async throws {
        let bench = Bench()
        let store = try bench.store(30)
        func put(_ count: Int, _ name: String, hub: Int64, in store: DiskContainerStore) async throws {
            try await bench.put(String(repeating: "x", count: count), try bench.blob(name, hub: hub), in: store)
        }
        try await put(15, "a", hub: 1, in: store)
        await #expect(throws: ServiceError.self) { try await put(1, "b", hub: 1, in: store) }
        try await put(7, "a", hub: 2, in: store)
        await #expect(throws: ServiceError.self) { try await put(1, "b", hub: 2, in: store) }
        let restarted = try bench.store(30)
        await #expect(throws: ServiceError.self) { try await put(1, "b", hub: 1, in: restarted) }
        try await put(4, "a", hub: 3, in: restarted)
        #expect(try await restarted.remove(try bench.blob("a", hub: 1)))
        try await put(4, "b", hub: 2, in: restarted)
        #expect(restarted.usedBytes == 15)
    }

    @Test("of two who write the same at the same place, one that is late changes nothing")
    func late() async throws {
        let bench = Bench()
        let store = try bench.store()
        let blob = try bench.blob("out")
        let slow = try await store.append(to: blob, at: 0)
        let successor = try await store.append(to: blob, at: 0)
        for page in ["first,", "second,", "third"] { try await successor.write(Array(page.utf8)) }
        try await slow.write(Array("first,".utf8))
        #expect(try await bench.text(blob, in: store) == "first,second,third")
        #expect(store.usedBytes == 18)
        try await successor.cut(to: 6)
        #expect(try await bench.text(blob, in: store) == "first,")
        #expect(store.usedBytes == 6)
    }

    @Test("a file that is opened at an offset is written from there on, and cut where it ends")
    func appends() async throws {
        let bench = Bench()
        let store = try bench.store()
        let blob = try bench.blob("out")
        let first = try await store.append(to: blob, at: 0)
        try await first.write(Array("committed, lost".utf8))
        try await first.synchronize()
        let second = try await store.append(to: blob, at: 9)
        #expect(try await bench.text(blob, in: store) == "committed, lost", "opening alone changes nothing")
        try await second.write(Array("!".utf8))
        try await second.cut(to: 10)
        #expect(try await bench.text(blob, in: store) == "committed!")
        #expect(store.usedBytes == 10)
    }

    @Test("lists are in order, by prefix and in pages")
    func lists() async throws {
        let bench = Bench()
        let store = try bench.store()
        for name in ["b", "a/2", "a/1", "c"] { try await bench.put("x", try bench.blob(name), in: store) }
        let box = try #require(ContainerName("box"))
        func names(_ prefix: String, after: String?, limit: Int = 9) async throws -> [String] {
            try await store.list(box, of: HubID(1), prefix: prefix, after: after.flatMap(BlobName.init), limit: limit).map(
                \.name.text)
        }
        #expect(try await names("", after: nil) == ["a/1", "a/2", "b", "c"])
        #expect(try await names("a/", after: nil) == ["a/1", "a/2"])
        #expect(try await names("", after: "a/1", limit: 2) == ["a/2", "b"])
        #expect(try await store.list(box, of: HubID(2), prefix: "", after: nil, limit: 9).isEmpty)
        #expect(try await store.remove(try bench.blob("b")))
        #expect(try await !store.remove(try bench.blob("b")))
        #expect(try await names("", after: nil) == ["a/1", "a/2", "c"])
        #expect(store.usedBytes == 3)
    }

    @Test("a sweep removes what is old, and a new start counts what is left")
    func sweeps() async throws {
        let bench = Bench()
        let store = try bench.store()
        try await bench.put("old", try bench.blob("old"), in: store)
        let information = try #require(try await store.open(try bench.blob("old")))
        #expect(try await store.sweep(writtenBefore: information.writtenAt) == 0)
        #expect(try bench.store().usedBytes == 3)
        #expect(try await store.sweep(writtenBefore: information.writtenAt + .milliseconds(1)) == 1)
        #expect(store.usedBytes == 0)
        #expect(try bench.store().usedBytes == 0)
    }

    @Test(
        "no name leaves the folder",
        arguments: [
            "", ".", "..", "a/../b", "/a", "a/", "a//b", "a\\b", "a%2Fb", "a\0b", "a b", "é", String(repeating: "a", count: 201),
        ])
    func names(text: String) { #expect(BlobName(text) == nil) }
}
