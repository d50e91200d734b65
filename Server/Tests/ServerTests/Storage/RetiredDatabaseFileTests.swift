import Foundation
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import Testing

@testable import ServerOperations
@testable import ServerStorage

@Suite("A database file that was put away")
struct RetiredDatabaseFileTests {
    private func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "clarion-retired-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func detail(_ work: () async throws -> Void) async -> String {
        do { try await work() } catch let error as ServiceError { return error.detail ?? "" } catch {}
        return "no error"
    }

    private func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test("is never replaced by one that was begun since, and a move says that there are two")
    func twoFiles() async throws {
        try await inFolder { folder in
            let file = RetiredDatabaseFile(path: folder + "/clarion.sqlite")
            try write("all rows", file.path)
            try file.put()
            #expect(text(file.retired) == "all rows")
            #expect(text(file.path) == nil)
            // What was begun may be gone on with.
            try file.put()
            try write("none", file.path)
            #expect(await detail { try file.put() }.contains("there are both"))
            var settings = try #require(
                SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]).read().settings)
            settings.dataDirectory = folder
            let administration = DatabaseAdministration(settings: settings)
            #expect(await detail { _ = try await administration.move { _ in } }.contains("there are both"))
            #expect(text(file.retired) == "all rows")
            #expect(text(file.path) == "none")
        }
    }

    @Test("keeps a server without its new database from beginning anew")
    func noEmptyServer() async throws {
        try await inFolder { folder in
            var settings = try #require(SettingsFixture().read().settings)
            settings.dataDirectory = folder
            try write("all rows", folder + "/clarion.sqlite.moved")
            let refusal = await detail { _ = try await NodeStorage.open(settings, access: .server, clock: .system) }
            #expect(refusal.contains("have moved to PostgreSQL"))
            #expect(refusal.contains("set database-url"))
            #expect(text(folder + "/clarion.sqlite") == nil)
        }
    }

    @Test(
        "that was not put away keeps servers and commands from beginning in the new database without its rows",
        arguments: [NodeDatabase.Access.server, .command])
    func notMovedYet(access: NodeDatabase.Access) async throws {
        try await inFolder { folder in
            var settings = try #require(
                SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]).read().settings)
            settings.dataDirectory = folder
            try write("all rows", folder + "/clarion.sqlite")
            let refusal = await detail { _ = try await NodeStorage.open(settings, access: access, clock: .system) }
            #expect(refusal.contains("clarion database move"))
            #expect(refusal.contains(folder + "/clarion.sqlite is still there"))
            #expect(text(folder + "/clarion.sqlite") == "all rows")
        }
    }

    @Test("is put away while its lock is held, and a server looks for it when it has the lock: none starts in between")
    func lock() async throws {
        try await inFolder { folder in
            let path = folder + "/clarion.sqlite"
            let old = try SQLiteDatabase(path: path, access: .server)
            try old.close {
                #expect(throws: SQLFault.lockedByAnotherProcess(path: path + ".lock")) {
                    try SQLiteDatabase(path: path, access: .server)
                }
                try RetiredDatabaseFile(path: path).put()
            }
            var second: (any Error)?
            #expect(throws: ServiceError.self) {
                try SQLiteDatabase(path: path, access: .server) {
                    do { try SQLiteDatabase(path: path, access: .server).close() } catch { second = error }
                    try RetiredDatabaseFile(path: path).requireNotRetired()
                }
            }
            #expect(second is SQLFault, "it looks when it has the lock")
            #expect(!FileManager.default.fileExists(atPath: path))
            // A refused process has not kept the lock.
            try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
            try SQLiteDatabase(path: path, access: .server).close()
        }
    }
}
