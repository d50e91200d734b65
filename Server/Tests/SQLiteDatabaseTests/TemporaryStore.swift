import Foundation
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import StorageConformance

/// A migrated SQLite file in a temporary folder that goes with the test.
final class TemporaryStore: Sendable {
    let folder: String
    let database: SQLiteDatabase

    var path: String { folder + "/clarion.sqlite" }

    init() async throws {
        folder = NSTemporaryDirectory() + "clarion-sqlite-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .server)
        try await SchemaMigrator().migrate(database, at: Timestamp(seconds: 1))
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var hub: HubStorage {
        HubStorage(
            hubs: SQLHubStore(database), devices: SQLDeviceStore(database), intake: SQLIntakeStore(database),
            queue: SQLSliceQueue(database), telemetry: SQLTelemetryStore(database))
    }
}
