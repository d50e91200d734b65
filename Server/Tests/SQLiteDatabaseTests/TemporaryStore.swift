import EngineTesting
import Foundation
import PushHub
import SQLStorage
import StorageConformance

/// A migrated SQLite file in a temporary folder that goes with the test.
final class TemporaryStore: Sendable {
    let folder: String
    let database: any SQLDatabase

    var path: String { folder + "/clarion.sqlite" }

    /// `engine` for tests that are not about SQLite itself.
    init(_ engine: TestEngine = .sqlite) async throws {
        folder = NSTemporaryDirectory() + "clarion-sqlite-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try await engine.open(folder + "/clarion.sqlite")
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
