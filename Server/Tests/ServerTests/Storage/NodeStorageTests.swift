import Foundation
import RichPushModel
import SQLStorage
import ServerObservability
import ServiceErrors
import Synchronization
import Testing

@testable import ServerStorage

@Suite("The storage of a node")
struct NodeStorageTests {
    @Test("a node whose disk was full is ready again once it has room, without waiting for a request to write")
    func recovery() async throws {
        let folder = NSTemporaryDirectory() + "clarion-storage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        let storage = try await NodeStorage.open(settings, access: .server, clock: .system)
        defer { try? storage.database.close() }
        try await storage.check()
        let full = SQLStatement("INSERT INTO full SELECT zeroblob(200000)")
        try await storage.database.write { try $0.script("CREATE TABLE full (bytes BLOB); PRAGMA max_page_count = 1") }
        await #expect(throws: SQLFault.self) { try await storage.database.write { _ = try $0.run(full, []) } }
        #expect(storage.database.lastWriteFault == "SQLITE_FULL")
        try await storage.database.write { try $0.script("PRAGMA max_page_count = 100000") }
        #expect(storage.database.lastWriteFault != nil)
        try await storage.check()
        #expect(storage.database.lastWriteFault == nil)
    }

    @Test("a node is not ready while its database or its contents take no write, although nothing has failed yet, and says why")
    func provenWrites() async throws {
        let folder = NSTemporaryDirectory() + "clarion-storage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        await (try await NodeStorage.open(settings, access: .server, clock: .system)).close()
        let storage = try await NodeStorage.open(settings, access: .server, clock: .system)
        defer { try? storage.database.close() }
        try await storage.database.write { try $0.script("PRAGMA query_only = 1") }
        #expect(storage.database.lastWriteFault == nil)
        let written = await #expect(throws: ReadinessFault.self) { try await storage.check() }
        #expect(written?.reason == "the database file or its file system is read-only (SQLITE_READONLY)")
        try await storage.contents.check()
        try FileManager.default.removeItem(atPath: folder + "/content/incoming")
        let stored = await #expect(throws: ReadinessFault.self) { try await storage.contents.check() }
        #expect(stored?.reason == "the content store cannot be used: a folder on the way there is missing (ENOENT)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/content") == ["objects"])
    }

    @Test("a database with the secrets of one hub alone gets no new master key, and one without any secret does")
    func masterKeyOfSecrets() async throws {
        let folder = NSTemporaryDirectory() + "clarion-storage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        let storage = try await NodeStorage.open(settings, access: .server, clock: .system)
        try await storage.database.write { try $0.script("DELETE FROM hub_rules WHERE hub_id = 0") }
        #expect(try await MasterKeyFile.holdsSecrets(storage.database))
        await storage.close()
        let path = folder + "/master-key"
        try FileManager.default.removeItem(atPath: path)
        let refusal = await #expect(throws: ServiceError.self) {
            _ = try await NodeStorage.open(settings, access: .server, clock: .system)
        }
        #expect(refusal?.detail == MasterKeyFile.missing(settings).detail)
        #expect(!FileManager.default.fileExists(atPath: path))
        let database = try NodeDatabase.open(settings, .server)
        try await database.write { try $0.script("DELETE FROM hub_rules") }
        try database.close()
        await (try await NodeStorage.open(settings, access: .server, clock: .system)).close()
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "a content folder takes no uploads while less than 16 MiB are free on its disk, although the small file of the check fits"
    )
    func almostFull() async throws {
        let folder = NSTemporaryDirectory() + "clarion-storage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let free = Mutex<Int64?>((16 << 20) - 1)
        let contents = try NodeContents(
            settings, claimant: nil, isAlone: true, clock: .system, freeBytes: { free.withLock { $0 } })
        let fault = await #expect(throws: ReadinessFault.self) { try await contents.check() }
        #expect(fault?.reason == "the disk of the content store is almost full: less than 16 MiB are free")
        for room in [16 << 20, nil] as [Int64?] {
            free.withLock { $0 = room }
            try await contents.check()
        }
    }

    @Test("a start that is refused after its bucket was opened leaves no client open, which would end a debug build")
    func refusedBeside() async throws {
        let folder = NSTemporaryDirectory() + "clarion-storage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let environment = [
            "CLARION_S3_BUCKET": "pictures", "CLARION_S3_KEY_ID": "AKIAEXAMPLE", "CLARION_S3_SECRET": "secret",
            "CLARION_S3_ENDPOINT": "http://127.0.0.1:1",
        ]
        var settings = try #require(SettingsFixture(environment: environment).read().settings)
        settings.dataDirectory = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: folder + "/containers", contents: nil))
        await #expect(throws: ServiceError.self) { _ = try await NodeStorage.open(settings, access: .server, clock: .system) }
    }

    @Test("the most frequent system errors have a sentence", arguments: [ENOSPC, EROFS, EACCES, EDQUOT, EMFILE])
    func sentence(number: Int32) {
        let text = SystemErrorText.text(number)
        #expect(!text.contains("errno") && text.contains(" (E"), "\(text)")
    }

    @Test("a data directory that cannot be made says why")
    func reason() async throws {
        let file = NSTemporaryDirectory() + "clarion-storage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        let error = #expect(throws: ServiceError.self) { try PrivateFile.makeFolder(file) }
        #expect(error?.detail?.hasSuffix("a part of the path is no folder (ENOTDIR)") == true)
    }
}
