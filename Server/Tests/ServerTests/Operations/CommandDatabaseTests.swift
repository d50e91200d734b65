import AppBackend
import EngineTesting
import Foundation
import GRDB
import LongWork
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerStorage
import ServiceErrors
import Testing

@testable import ServerOperations
@testable import ServerSettings

@Suite("Commands beside a server of another version")
struct CommandDatabaseTests {
    /// Time passes with each pause, and the test waits for none.
    private struct HastyClock: ServiceClock {
        var now: Timestamp { Timestamp(seconds: 1) }
        var uptime: Duration { .zero }
        /// What happens during each pause.
        var pausing: @Sendable () -> Void = {}

        func sleep(for duration: Duration) async throws {
            try Task.checkCancellation()
            pausing()
        }
    }

    /// The message of the service error that the work throws.
    private func message(_ work: () async throws -> Void) async -> String? {
        do { try await work() } catch let error as ServiceError { return error.detail } catch {}
        return nil
    }

    private func settings(_ folder: String) throws -> Settings {
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        return settings
    }

    @Test("a command on an older or a newer schema says which is which and changes nothing; an upgrade migrates the older")
    func versions() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let settings = try settings(folder)
        let users = UserAdministration(settings: settings)
        let name = try #require(UserName("ann"))
        try await begin(settings)
        try await users.add(name, password: SecretText("password of ann"), role: .user)
        let last = try await DatabaseAdministration(settings: settings).upgrade()
        #expect(last.from == last.to)
        let newer = NextVersion.migrator
        let open = { try await NodeStorage.open(settings, access: .command, clock: .system, migrator: newer) }
        let refusal = await message { await (try await open()).close() }
        #expect(refusal?.contains("has schema \(last.to), this command needs \(newer.known)") == true)
        #expect(refusal?.contains("clarion database upgrade") == true)
        #expect(try await users.list().map(\.name) == [name])
        let upgrade = try await NodeStorage.upgrade(settings, clock: .system, progress: WorkProgress(), migrator: newer)
        #expect(upgrade.from == last.to)
        #expect(upgrade.to == newer.known)
        await (try await open()).close()
        #expect(await message { _ = try await users.list() }?.contains("run the newer version") == true)
    }

    @Test(
        "a database of a development version is refused by servers, commands, upgrades and moves, which say why, and stays as it is"
    )
    func unreleased() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try settings(folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let steps = ["hub tables", "backend tables", "retention"].enumerated().map { "(\($0 + 1), '\($1)', 1)" }
        try await alter(
            folder,
            """
            CREATE TABLE schema_steps (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
            CREATE TABLE hubs (hub_id INTEGER PRIMARY KEY); INSERT INTO schema_steps VALUES \(steps.joined(separator: ", "));
            """)
        let reason = "the database in \(folder) was made by a development version before 1.0; there is no upgrade from it."
        for access in [NodeDatabase.Access.server, .command] {
            let refusal = await message { await (try await NodeStorage.open(settings, access: access, clock: .system)).close() }
            #expect(refusal?.hasPrefix(reason) == true, "\(access): \(refusal ?? "it opens")")
        }
        let administration = DatabaseAdministration(settings: settings)
        #expect(await message { _ = try await administration.upgrade() }?.hasPrefix(reason) == true)
        settings.database = try #require(
            SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]).read().settings?.database)
        let moving = DatabaseAdministration(settings: settings)
        #expect(await message { _ = try await moving.move { _ in } }?.hasPrefix(reason) == true)
        let database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .command)
        defer { try? database.close() }
        #expect(try await Set(database.tableNames()) == ["schema_steps", "hubs"])
        let count = SQLStatement("SELECT COUNT(*) FROM schema_steps")
        #expect(try await database.read { try $0.row(count, [])?.integer(0) } == 3)
    }

    @Test("an upgrade begins no node, neither in a mistyped directory nor beside rows that are still to be moved")
    func upgradeOfNothing() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try settings(folder)
        let administration = DatabaseAdministration(settings: settings)
        let refusal = await message { _ = try await administration.upgrade() }
        #expect(refusal?.hasPrefix("there is no node in \(folder); is data-directory right? `clarion init` begins one") == true)
        #expect(!FileManager.default.fileExists(atPath: folder))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = URL(fileURLWithPath: folder + "/clarion.sqlite")
        try Data("all rows".utf8).write(to: file)
        settings.database = try #require(
            SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]).read().settings?.database)
        let elsewhere = DatabaseAdministration(settings: settings)
        let second = await message { _ = try await elsewhere.upgrade() }
        #expect(second?.contains("is still there: run clarion database move") == true)
    }

    @Test("commands on users and keys begin no node, and an empty file is none")
    func accidents() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let users = UserAdministration(settings: try settings(folder))
        let name = try #require(UserName("ann"))
        let refusals = [
            await message { try users.requireNode() }, await message { _ = try await users.list() },
            await message { try await users.add(name, password: SecretText("password of ann"), role: .user) },
            await message { _ = try await users.createKey(ServiceKeyRequest(name: "shop", scopes: ["send"])) },
            await message { _ = try await users.auditKey() }, await message { _ = try await users.verifyAudit(foreign: []) },
        ]
        let sentence =
            "there is no node in \(folder); is data-directory right? `clarion init` begins one, and so does `clarion serve`"
        #expect(Set(refusals) == [sentence])
        #expect(!FileManager.default.fileExists(atPath: folder))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: folder + "/clarion.sqlite"))
        #expect(await message { _ = try await users.createKey(ServiceKeyRequest(name: "shop", scopes: ["send"])) } == sentence)
        #expect(await message { _ = try await DatabaseAdministration(settings: try settings(folder)).upgrade() } == sentence)
        let database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .command)
        defer { try? database.close() }
        #expect(try await database.tableNames().isEmpty)
    }

    @Test(
        "a name, a password and a key that do not fit begin no node, and those that do begin one with which the others work",
        arguments: [("@ann", "correct horse battery", "shop"), ("ann", "short", "shop"), ("ann", "correct horse battery", "a b")])
    func unfitBeginning(name: String, password: String, key: String) async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var users = UserAdministration(settings: try settings(folder))
        users.passwordCost = .init(logarithmOfRounds: 4, blockSize: 8, parallelism: 1)
        func begin(_ name: String, _ password: String, _ key: String) async throws -> ServiceKeyAnswer {
            try await users.begin(
                administrator: try #require(UserName(name)), password: SecretText(password),
                key: ServiceKeyRequest(name: key, scopes: ["send"]))
        }
        await #expect(throws: ServiceError.self) { try await begin(name, password, key) }
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(try await begin("ann", "correct horse battery", "shop").key != nil)
        #expect(try await users.createKey(ServiceKeyRequest(name: "other", scopes: ["send"])).key != nil)
    }

    @Test("a command in a directory whose rows have moved says so, and that database-url is missing")
    func movedRows() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("all rows".utf8).write(to: URL(fileURLWithPath: folder + "/clarion.sqlite.moved"))
        let users = UserAdministration(settings: try settings(folder))
        let refusal = await message { _ = try await users.list() }
        #expect(refusal?.contains("have moved to PostgreSQL") == true)
        #expect(refusal?.contains("set database-url") == true)
    }

    @Test("a backup and a look for damage name the file or the folder that is wrong, and touch nothing")
    func files() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try settings(folder)
        let administration = DatabaseAdministration(settings: settings)
        let source = folder + "/clarion.sqlite"
        #expect(await message { _ = try await administration.check(nil) } == "there is no \(source)")
        #expect(!FileManager.default.fileExists(atPath: folder))
        try await begin(settings)
        #expect(try await administration.check(nil) == source)
        let nowhere = await message { try await administration.backUp(to: folder + "/none/copy") }
        #expect(nowhere == "there is no folder \(folder)/none for the backup")
        let inFile = await message { try await administration.backUp(to: source + "/copy") }
        #expect(inFile == "there is no folder \(source) for the backup")
        let copy = folder + "/copy"
        let progress = WorkProgress()
        try await administration.backUp(to: copy, progress: progress)
        #expect(progress.line?.hasPrefix("copying the database: ") == true)
        #expect(progress.line?.contains(" MB") == true)
        #expect(try await administration.check(copy, progress: progress) == copy)
        #expect(progress.line?.hasPrefix("comparing every index with its table: ") == true)
        try Data(repeating: 0xA5, count: 20_000).write(to: URL(fileURLWithPath: copy))
        let damage = await message { _ = try await administration.check(copy) }
        #expect(
            damage?.hasPrefix("\(copy) is damaged or is no database of clarion; it is no good") == true
                && damage?.contains("SQLITE_NOTADB") == true)
        let none = await message { _ = try await administration.check(folder + "/none") }
        #expect(none == "there is no '\(folder)/none' that can be read")
        #expect(await message { _ = try await administration.check(folder) } == "\(folder) is no file")
        let empty = folder + "/empty"
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: empty + "/clarion.sqlite"))
        let nothing = DatabaseAdministration(settings: try self.settings(empty))
        #expect(await message { try await nothing.backUp(to: folder + "/copied") }?.hasSuffix("no database of clarion") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: empty + "/clarion.sqlite")).isEmpty)
        settings.database = try #require(
            SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]).read().settings?.database)
        let elsewhere = DatabaseAdministration(settings: settings)
        #expect(await message { _ = try await elsewhere.check(nil) }?.contains("pg_amcheck") == true)
    }

    @Test(
        "a compaction names its cost, leaves an older file alone unless it may write it anew, and names autovacuum for PostgreSQL"
    )
    func compaction() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try settings(folder)
        let administration = DatabaseAdministration(settings: settings)
        let progress = WorkProgress()
        func compact(_ rewrites: Bool) async throws -> (DatabaseAdministration.Compaction, [String]) {
            var lines: [String] = []
            let result = try await administration.compact(rewrites: rewrites, progress: progress) { lines.append($0) }
            return (result, lines)
        }
        let file = folder + "/clarion.sqlite"
        #expect(await message { _ = try await compact(false) } == "there is no \(file)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try makeOlder(file)
        try await begin(settings)
        let filling = "CREATE TABLE filling AS SELECT zeroblob(1000000); DELETE FROM filling"
        try await alter(folder, filling)
        // Its length: the library writes an empty transaction when it opens a file whose log is empty.
        let before = try Data(contentsOf: URL(fileURLWithPath: file)).count
        let refusal = await message { _ = try await compact(false) }
        #expect(refusal?.contains("nothing was done. With --rewrite") == true)
        #expect(refusal?.contains("MB of free disk") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count == before)
        let (anew, lines) = try await compact(true)
        #expect(lines.count == 1 && lines.first?.contains("no server can write meanwhile") == true, "\(lines)")
        #expect(anew.isCut && anew.before - anew.after > 900_000, "\(anew)")
        try await alter(folder, "DROP TABLE filling; \(filling)")
        let (steps, costs) = try await compact(false)
        #expect(steps.isCut && steps.before - steps.after > 900_000, "\(steps)")
        #expect(costs.isEmpty, "it costs nothing that has to be said")
        #expect(progress.line?.hasPrefix("giving free pages back: 100 %") == true, "\(progress.line ?? "none")")
        settings.database = try #require(
            SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]).read().settings?.database)
        let elsewhere = DatabaseAdministration(settings: settings)
        let answer = await message { _ = try await elsewhere.compact(rewrites: true) { _ in } }
        #expect(answer?.contains("autovacuum") == true)
    }

    @Test("a compaction that a busy writer ends early says so, counts what it gave back, and still empties the log")
    func busyCompaction() async throws {
        let folder = NSTemporaryDirectory() + "clarion-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let settings = try settings(folder)
        let file = folder + "/clarion.sqlite"
        try await begin(settings)
        try await alter(folder, "CREATE TABLE filling AS SELECT zeroblob(8000000); DELETE FROM filling")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: file, configuration: configuration)
        let clock = HastyClock(pausing: {
            // After the first step; it has the lock already in the next pauses.
            try? other.writeWithoutTransaction { if !$0.isInsideTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") } }
        })
        var said: [String] = []
        let result = try await DatabaseAdministration(settings: settings).compact(
            rewrites: false, lockTimeout: .zero, clock: clock
        ) { said.append($0) }
        #expect(!result.isComplete)
        #expect(result.before - result.after > 1_000_000, "\(result)")
        #expect(
            said.last == """
                other programs wrote into \(file) for 0 seconds without a pause, and free space is left; run this again when they write less
                """)
        // Nothing but the emptying of the log writes into the file itself.
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count == Int(result.after))
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    @Test("a file is not written anew on a disk that has no room for that, and the sentence has both numbers")
    func room() throws {
        let cost = RewriteCost(bytes: 5_000_000, file: "/tmp/clarion.sqlite", environment: ["SQLITE_TMPDIR": "/tmp"])
        #expect(cost.temporary == "/tmp")
        try cost.requireRoom { _ in 10_000_000 }
        try cost.requireRoom { _ in nil }
        let error = #expect(throws: ServiceError.self) { try cost.requireRoom { _ in 9_000_000 } }
        #expect(error?.detail == "the disk of /tmp has 9 MB free, and 10 MB are needed; nothing was done")
        let environment = ["SQLITE_TMPDIR": "/no/folder", "TMPDIR": "/tmp"]
        #expect(RewriteCost(bytes: 1, file: "/x", environment: environment).temporary == "/tmp")
    }

    /// Begins a node, as `clarion init` and `clarion serve` do.
    private func begin(_ settings: Settings) async throws {
        try await NodeStorage.during(command: settings, mayBegin: true) { _ in }
    }

    /// A file that has something in it already, which no version of this program prepared for a compaction.
    private func makeOlder(_ file: String) throws {
        let queue = try DatabaseQueue(path: file)
        try queue.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE first (number)") }
        try queue.close()
    }

    private func alter(_ folder: String, _ text: String) async throws {
        let database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .command)
        defer { try? database.close() }
        try await database.write { try $0.script(text) }
    }
}
