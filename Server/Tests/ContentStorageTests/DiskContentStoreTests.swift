import AppBackend
import ClarionTesting
import ContentStorage
import Foundation
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@Suite struct DiskContentStoreTests {
    /// A store in a temporary folder that goes with the test.
    private final class Temporary: Sendable {
        let root = NSTemporaryDirectory() + "clarion-content-\(UUID().uuidString)"
        deinit { try? FileManager.default.removeItem(atPath: root) }
        func files(_ folder: String) throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: root + folder) }
    }

    @Test("disk:", arguments: ContentStorePromises.all)
    func promises(_ promise: StoragePromise<any ContentStore>) async throws {
        let temporary = Temporary()
        try await promise.check(try DiskContentStore(root: temporary.root))
    }

    @Test("what an upload left behind at a crash is removed at the start, contents are kept")
    func crash() async throws {
        let temporary = Temporary()
        let store = try DiskContentStore(root: temporary.root)
        let stored = try await ContentStorePromises.store(Array("kept".utf8), in: store)
        let orphan = temporary.root + "/incoming/left-behind"
        #expect(FileManager.default.createFile(atPath: orphan, contents: Data([1])))
        let reopened = try DiskContentStore(root: temporary.root)
        #expect(try temporary.files("/incoming").isEmpty)
        #expect(try await reopened.open(stored.digest)?.size == 4)
    }

    @Test("equal bytes lie on the disk once, under their digest and nothing else")
    func layout() async throws {
        let temporary = Temporary()
        let store = try DiskContentStore(root: temporary.root)
        let first = try await ContentStorePromises.store([1, 2, 3], in: store)
        _ = try await ContentStorePromises.store([1, 2, 3], in: store)
        let files = try temporary.files("/objects").filter { $0.contains("/") }
        #expect(files == ["\(first.digest.text.prefix(2))/\(first.digest)"])
        let mode = try FileManager.default.attributesOfItem(atPath: temporary.root + "/objects/" + files[0])[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("an upload that is let go of leaves no file")
    func letGo() async throws {
        let temporary = Temporary()
        let store = try DiskContentStore(root: temporary.root)
        do {
            let upload = try await store.beginUpload(limit: 10)
            try await upload.write([1])
            #expect(try temporary.files("/incoming").count == 1)
        }
        // Released once the write has left its thread.
        #expect(await eventually { (try? temporary.files("/incoming").isEmpty) == true })
    }

    @Test("more uploads than may run are refused, and a finished one makes room")
    func bounded() async throws {
        let temporary = Temporary()
        let store = try DiskContentStore(root: temporary.root, maximumUploads: 2)
        var uploads = [try await store.beginUpload(limit: 10), try await store.beginUpload(limit: 10)]
        let refused = await #expect(throws: ServiceError.self) { _ = try await store.beginUpload(limit: 10) }
        #expect(refused?.code == .overloaded)
        await uploads.removeLast().abort()
        uploads = []
        _ = try await store.beginUpload(limit: 10)
    }

    @Test("a link in place of a content is not followed")
    func link() async throws {
        let temporary = Temporary()
        let store = try DiskContentStore(root: temporary.root)
        let stored = try await ContentStorePromises.store([1, 2, 3], in: store)
        let path = temporary.root + "/objects/\(stored.digest.text.prefix(2))/\(stored.digest)"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
        await #expect(throws: ServiceError.self) { _ = try await store.open(stored.digest) }
    }

    @Test("nothing but 64 lower-case hexadecimal digits names a content")
    func digests() {
        let good = String(repeating: "a", count: 64)
        #expect(ContentDigest(good) != nil)
        let bad = [
            "", "../../etc/passwd", "%2e%2e%2f", good + "a", String(good.dropLast()), good.uppercased(),
            String(good.dropLast()) + "/", String(good.dropLast()) + "\u{0}", String(good.dropLast()) + "\u{0430}",
            String(repeating: "a", count: 1_000_000),
        ]
        for text in bad { #expect(ContentDigest(text) == nil) }
    }
}
