import Foundation
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

@Suite("A copy of a database in use")
struct BackupTests {
    private static let create = "CREATE TABLE pairs (number INTEGER NOT NULL)"
    private static let insert = SQLStatement("INSERT INTO pairs (number) VALUES ($1)")

    @Test("it is of one moment, whole and private, while a server writes; and it is never written over another file")
    func consistent() async throws {
        let store = try await TemporaryStore()
        try await store.database.write { try $0.script(Self.create) }
        let writing = Task {
            var count: Int64 = 0
            while !Task.isCancelled {
                let number = count
                // Half of a pair must never be seen.
                try await store.database.write { connection in
                    for _ in 1...2 { try connection.run(Self.insert, [.integer(number)]) }
                }
                count += 1
            }
            return count
        }
        let command = try SQLiteDatabase(path: store.path, access: .command)
        for number in 1...3 {
            let path = store.folder + "/copy-\(number)"
            try await command.backUp(to: path)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let copy = try SQLiteDatabase(path: path, access: .server)
            #expect(try await SchemaMigrator().migrate(copy, at: Timestamp(seconds: 9)).isEmpty)
            let check = SQLStatement("PRAGMA integrity_check")
            #expect(try await copy.read { try $0.row(check, [])?.text(0) } == "ok")
            let halves = SQLStatement("SELECT COUNT(*) FROM (SELECT number FROM pairs GROUP BY number HAVING COUNT(*) <> 2)")
            #expect(try await copy.read { try $0.row(halves, [])?.integer(0) } == 0)
            try copy.close()
            await #expect(throws: SQLFault.unavailable(reason: "\(path) exists already")) { try await command.backUp(to: path) }
        }
        writing.cancel()
        #expect(try await writing.value > 0)
        await #expect(throws: SQLFault.self) { try await command.backUp(to: "/nowhere/at/all") }
        try command.close()
    }
}
