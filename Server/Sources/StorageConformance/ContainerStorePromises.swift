import ClarionTesting
import PushHub
import RichPushModel
import ServiceErrors
import Testing

/// A place for files of containers, empty at first.
public struct ContainerPlace: Sendable {
    /// Opens it, with a bound for all files together: again and again, as a node does that starts anew.
    public var open: @Sendable (_ maximumBytes: Int64) async throws -> any ContainerStore

    /// Creates a place.
    public init(open: @escaping @Sendable (_ maximumBytes: Int64) async throws -> any ContainerStore) { self.open = open }
}

/// What every `ContainerStore` promises.
public enum ContainerStorePromises {
    /// Each promise.
    public static let all: [StoragePromise<ContainerPlace>] = [
        puts, keeps, leavesNothing, hasRoom, hasShares, startsEmpty, goesOn, bearsRepeats, bearsTheLate, bearsTheLateOpener,
        lists,
        listsGrown, sweeps, agreesWithMemory,
    ]

    static func blob(_ name: String, hub: Int64 = 1, container: String = "box") throws -> BlobReference {
        BlobReference(hub: HubID(hub), container: try #require(ContainerName(container)), name: try #require(BlobName(name)))
    }

    /// Stores a file in pieces of a few bytes.
    static func put(_ text: String, _ blob: BlobReference, in store: any ContainerStore, limit: Int64 = .max) async throws {
        let upload = try await store.put(blob, limit: limit)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try await upload.write(Array(rest.prefix(4)))
            rest = rest.dropFirst(4)
        }
        try await upload.finish()
    }

    /// All of a file; `nil` when there is none.
    static func text(_ blob: BlobReference, in store: any ContainerStore) async throws -> String? {
        guard let file = try await store.open(blob) else { return nil }
        return String(decoding: try await file.read(at: 0, count: Int(file.size)), as: UTF8.self)
    }

    /// Opens a file and writes pages from an offset on.
    @discardableResult
    static func append(
        _ pages: [String], to blob: BlobReference, at offset: Int64, in store: any ContainerStore
    ) async throws -> any BlobAppending {
        let file = try await store.append(to: blob, at: offset)
        for page in pages {
            try await file.write(Array(page.utf8))
            try await file.synchronize()
        }
        return file
    }

    private static let puts = StoragePromise<ContainerPlace>(
        "a file is there once it is complete, replaces one of its name, and is of one hub and container"
    ) { place in
        let store = try await place.open(1 << 20)
        let file = try blob("demo/17/in.txt")
        let upload = try await store.put(file, limit: 10)
        try await upload.write(Array("first".utf8))
        #expect(try await store.open(file) == nil)
        try await upload.finish()
        #expect(try await text(file, in: store) == "first")
        try await put("2nd", file, in: store)
        #expect(try await text(file, in: store) == "2nd")
        try await put("", file, in: store)
        #expect(try await text(file, in: store)?.isEmpty == true)
        #expect(try await store.open(try blob("demo/17/in.txt", hub: 2)) == nil)
        #expect(try await store.open(try blob("demo/17/in.txt", container: "other")) == nil)
        #expect(try await store.open(try blob("demo/17/in")) == nil)
        #expect(try await store.remove(file))
        #expect(try await !store.remove(file))
        #expect(try await store.open(file) == nil)
    }

    private static let keeps = StoragePromise<ContainerPlace>("what was stored is there after another start, in any part") {
        place in
        let (first, second) = (try await place.open(1 << 20), try await place.open(1 << 20))
        try await put("0123456789", try blob("a"), in: first)
        try await append(["abc", "defg", "h"], to: try blob("b"), at: 0, in: first)
        let whole = try #require(try await second.open(try blob("a")))
        #expect(try await whole.read(at: 3, count: 4) == Array("3456".utf8) && whole.size == 10)
        let grown = try #require(try await second.open(try blob("b")))
        #expect(grown.size == 8 && grown.writtenAt > Timestamp(seconds: 1_000_000_000))
        for start in 0...8 {
            for end in start...8 {
                let part = try await grown.read(at: Int64(start), count: end - start)
                #expect(part == Array(Array("abcdefgh".utf8)[start..<end]))
            }
        }
    }

    private static let leavesNothing = StoragePromise<ContainerPlace>(
        "an upload that is let go of, too long or without room leaves nothing behind, and takes no room"
    ) { place in
        let store = try await place.open(20)
        do {
            let upload = try await store.put(try blob("a"), limit: .max)
            try await upload.write(Array("12345".utf8))
        }
        #expect(try await store.open(try blob("a")) == nil)
        await #expect(throws: ServiceError(.payloadTooLarge, "a file has at most 5 bytes")) {
            try await put("123456", try blob("a"), in: store, limit: 5)
        }
        let refused = await #expect(throws: ServiceError.self) { try await put("12345678901", try blob("a"), in: store) }
        #expect(refused?.code == .quotaExceeded && refused?.detail?.contains("hub-file-space") == true)
        #expect(try await store.list(try blob("a").container, of: HubID(1), prefix: "", after: nil, limit: 9).isEmpty)
        // The room comes back when the last write has left its thread.
        #expect(await eventually { (try? await put("1234567890", try blob("a"), in: store)) != nil })
        let appending = try await store.append(to: try blob("b"), at: 0)
        await #expect(throws: ServiceError.self) { try await appending.write([1]) }
        #expect(try await store.open(try blob("b"))?.size == 0)
    }

    private static func expectFull(_ store: any ContainerStore) async {
        await #expect(throws: ServiceError.self) { try await put("1", try blob("more"), in: store) }
    }

    private static let hasRoom = StoragePromise<ContainerPlace>(
        "what is replaced, written again, cut off or removed takes no room twice, or none any more"
    ) { place in
        // One hub alone may have twenty.
        let store = try await place.open(40)
        try await put("123456789012345", try blob("a"), in: store)
        #expect(try await store.remove(try blob("a")))
        let file = try await append(["12345", "67890"], to: try blob("b"), at: 0, in: store)
        try await append(["12345", "67890"], to: try blob("b"), at: 0, in: store)
        try await put("1234567890", try blob("c"), in: store)
        await expectFull(store)
        try await file.cut(to: 3)
        try await put("1234567", try blob("d"), in: store)
        await expectFull(store)
        #expect(try await store.remove(try blob("d")))
        try await put("12", try blob("c"), in: store)
        try await put("123456789012345", try blob("e"), in: store)
        await expectFull(store)
    }

    private static let hasShares = StoragePromise<ContainerPlace>(
        "a hub has as much room as it leaves to others, and what it had before a start counts"
    ) { place in
        let store = try await place.open(30)
        func put(_ count: Int, _ name: String, hub: Int64, in store: any ContainerStore) async throws {
            try await Self.put(String(repeating: "x", count: count), try blob(name, hub: hub), in: store)
        }
        try await put(15, "a", hub: 1, in: store)
        await #expect(throws: ServiceError.self) { try await put(1, "b", hub: 1, in: store) }
        try await put(7, "a", hub: 2, in: store)
        await #expect(throws: ServiceError.self) { try await put(1, "b", hub: 2, in: store) }
        let restarted = try await place.open(30)
        await #expect(throws: ServiceError.self) { try await put(1, "b", hub: 1, in: restarted) }
        try await put(4, "a", hub: 3, in: restarted)
        #expect(try await restarted.remove(try blob("a", hub: 1)))
        try await put(4, "b", hub: 2, in: restarted)
    }
}
