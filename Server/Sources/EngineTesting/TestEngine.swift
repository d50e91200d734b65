import ClarionTesting
import Foundation
import Logging
import RichPushModel
import SQLStorage
import SQLiteDatabase

/// Which engine tests of stores run on: `TEST_ENGINE` is `sqlite` (the default), `postgresql`, or `both`, where every transaction
/// runs on the two and their answers have to agree.
public enum TestEngine: String, Sendable {
    case sqlite
    case postgresql
    case both

    /// What the environment says.
    public static var chosen: TestEngine {
        ProcessInfo.processInfo.environment["TEST_ENGINE"].flatMap(TestEngine.init) ?? .sqlite
    }

    /// An empty database with the schema of this program. SQLite has its file at `path`, which has to be in a folder of the test.
    public func open(_ path: String) async throws -> any SQLDatabase {
        switch self {
        case .sqlite: return try await sqlite(path)
        case .postgresql: return try await PostgreSQLPool.ofProcess().take()
        case .both: return TwinDatabase(try await sqlite(path), try await PostgreSQLPool.ofProcess().take())
        }
    }

    private func sqlite(_ path: String) async throws -> SQLiteDatabase {
        let database = try SQLiteDatabase(path: path, access: .server)
        try await SchemaMigrator().migrate(database, at: Timestamp(seconds: 1))
        return database
    }
}
