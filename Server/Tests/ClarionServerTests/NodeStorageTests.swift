import Foundation
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@testable import ClarionServer

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
}
