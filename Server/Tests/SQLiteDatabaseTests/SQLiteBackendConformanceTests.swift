import AppBackend
import EngineTesting
import Foundation
import SQLStorage
import StorageConformance
import Testing

@Suite("SQLite keeps the promises of the app backend's storage")
struct SQLiteBackendConformanceTests {
    @Test("backend:", arguments: BackendStorePromises.all)
    func promises(_ promise: StoragePromise<any BackendStore>) async throws {
        let folder = NSTemporaryDirectory() + "clarion-promise-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try await TestEngine.sqlite.open(folder + "/clarion.sqlite")
        try await promise.check(SQLBackendStore(database))
        try database.close()
    }
}
