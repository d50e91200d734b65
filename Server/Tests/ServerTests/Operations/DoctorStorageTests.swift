import EngineTesting
import Foundation
import NIOPosix
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerSettings
import ServiceErrors
import Testing

@testable import ServerOperations
@testable import ServerStorage

@Suite("The doctor and what a server refuses to start on")
struct DoctorStorageTests {
    private static let elsewhere = ["CLARION_DATABASE_URL": "postgres://127.0.0.1:1/x"]

    private func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "clarion-doctor-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func fixture(_ folder: String, _ environment: [String: String] = [:]) -> SettingsFixture {
        SettingsFixture(arguments: ["--data-directory", folder], environment: environment)
    }

    private func finding(_ name: String, _ fixture: SettingsFixture) async throws -> DoctorCheck.Finding {
        let check = try #require(Doctor.checks(for: fixture.read()).first { $0.name == name })
        return await check.look()
    }

    /// The sentence with which a server refuses to start.
    private func refusal(_ fixture: SettingsFixture) async throws -> String {
        let settings = try #require(fixture.read().settings)
        do {
            let storage = try await NodeStorage.open(settings, access: .server, clock: .system)
            await storage.close()
        } catch let error as ServiceError { return error.detail ?? "no sentence" }
        return "it starts"
    }

    /// A data directory in which a server has run.
    private func begin(_ folder: String) async throws {
        let settings = try #require(fixture(folder).read().settings)
        let storage = try await NodeStorage.open(settings, access: .server, clock: .system)
        await storage.close()
    }

    private func alter(_ folder: String, _ text: String) async throws {
        let database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .command)
        defer { try? database.close() }
        try await database.write { try $0.script(text) }
    }

    @Test("where there is no database yet all is well, and none is made")
    func nothingYet() async throws {
        try await inFolder { (folder) async throws in
            for name in ["database file", "schema", "master key"] {
                #expect(try await finding(name, fixture(folder)).verdict == .good, "\(name)")
                #expect(try await finding(name, fixture(folder + "/none")).verdict == .good, "\(name)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("where a server has run all is well, and the folder holds what it held")
    func sound() async throws {
        try await inFolder { folder in
            try await begin(folder)
            let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            for name in ["database file", "schema", "master key"] {
                let finding = try await finding(name, fixture(folder))
                #expect(finding.verdict == .good, "\(name): \(finding.found)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
        }
    }

    @Test(
        "a place below the data directory where a server cannot write is bad, and doctor and the start name its path",
        arguments: ["content", "content/objects", "content/incoming", "containers", "containers/incoming"])
    func unusableFolder(name: String) async throws {
        try await inFolder { folder in
            try await begin(folder)
            // A file in its place: the tests may run as a user who may write everywhere.
            let path = "\(folder)/\(name)"
            try FileManager.default.removeItem(atPath: path)
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let finding = try await finding("data directory", fixture(folder))
            #expect(finding.verdict == .bad)
            #expect(finding.found == "\(path) cannot be used: a part of the path is no folder (ENOTDIR)")
            let refusal = try await refusal(fixture(folder))
            #expect(refusal.hasPrefix("the content store cannot be used: \(path)"), "\(refusal)")
        }
    }

    @Test("the folders of a server are looked into without a trace")
    func usableFolders() async throws {
        try await inFolder { folder in
            try await begin(folder)
            let before = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
            #expect(try await finding("data directory", fixture(folder)) == .good(folder))
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == before)
        }
    }

    @Test("a file that is still to be moved is bad beside database-url")
    func unmovedFile() async throws {
        try await inFolder { folder in
            try await begin(folder)
            let fixture = fixture(folder, Self.elsewhere)
            let finding = try await finding("database file", fixture)
            #expect(finding.verdict == .bad)
            #expect(try await finding.found == refusal(fixture))
        }
    }

    @Test("a file that was moved is bad without database-url")
    func movedFile() async throws {
        try await inFolder { folder in
            try Data("all rows".utf8).write(to: URL(fileURLWithPath: folder + "/clarion.sqlite.moved"))
            let finding = try await finding("database file", fixture(folder))
            #expect(finding.verdict == .bad)
            #expect(finding.found.contains("set database-url"))
            #expect(try await finding.found == refusal(fixture(folder)))
        }
    }

    @Test("a master key that is another one, or is gone, is bad, and no new one is made")
    func otherMasterKey() async throws {
        try await inFolder { folder in
            try await begin(folder)
            let other = Data(repeating: 7, count: 32).base64EncodedString()
            let strange = fixture(folder, ["CLARION_MASTER_KEY": other])
            let finding = try await finding("master key", strange)
            #expect(finding.verdict == .bad)
            #expect(finding.found.contains("is master-key the one it was stored with?"))
            #expect(try await finding.found == refusal(strange))
            let path = folder + "/master-key"
            try FileManager.default.removeItem(atPath: path)
            let gone = try await self.finding("master key", fixture(folder))
            #expect(gone.verdict == .bad)
            #expect(
                gone.found.hasPrefix(
                    "there is no master-key in \(folder), and the database has secrets sealed with one; bring it back"))
            #expect(try await gone.found == refusal(fixture(folder)))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(
        "contents beside a database that is missing, empty or new are bad, and nothing is made",
        arguments: ["missing", "empty", "new"])
    func contentsAlone(_ state: String) async throws {
        try await inFolder { folder in
            try await begin(folder)
            let path = folder + "/clarion.sqlite"
            let name = state == "new" ? "schema" : "database file"
            switch state {
            case "missing": try FileManager.default.removeItem(atPath: path)
            case "empty": try Data().write(to: URL(fileURLWithPath: path))
            default: try await alter(folder, "DELETE FROM hub_rules; DELETE FROM hubs")
            }
            #expect(try await finding(name, fixture(folder)).verdict == .good)
            let objects = folder + "/content/objects/ab"
            try FileManager.default.createDirectory(atPath: objects, withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: objects + "/abcd", contents: Data("picture".utf8)))
            let finding = try await finding(name, fixture(folder))
            #expect(finding.verdict == .bad)
            #expect(finding.found.hasPrefix("\(folder)/content holds contents, and "))
            #expect(try await finding.found == refusal(fixture(folder)))
            if state == "missing" { #expect(!FileManager.default.fileExists(atPath: path)) }
            try FileManager.default.removeItem(atPath: folder + "/content")
            #expect(try await refusal(fixture(folder)) == "it starts")
        }
    }

    @Test("a database whose hubs were removed is no new one while it has a user")
    func removedHubs() async throws {
        try await inFolder { folder in
            try await begin(folder)
            let settings = try #require(fixture(folder).read().settings)
            let name = try #require(UserName("ann"))
            try await UserAdministration(settings: settings).add(name, password: SecretText("password of ann"), role: .user)
            try await alter(folder, "DELETE FROM hub_rules; DELETE FROM hubs")
            let objects = folder + "/content/objects/ab"
            try FileManager.default.createDirectory(atPath: objects, withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: objects + "/abcd", contents: Data("picture".utf8)))
            #expect(try await finding("schema", fixture(folder)).verdict == .good)
            #expect(try await refusal(fixture(folder)) == "it starts")
        }
    }

    @Test("a newer schema is bad, an older one is reported and left as it is")
    func schema() async throws {
        try await inFolder { folder in
            try await begin(folder)
            let known = SchemaMigrator().known
            let settings = try #require(fixture(folder).read().settings)
            let newerDoctor = Doctor.schemaCheck(settings, NextVersion.migrator)
            let older = await newerDoctor.look()
            #expect(older.verdict == .good)
            #expect(older.found == "\(known); the start of the server makes it \(NextVersion.migrator.known)")
            #expect(await newerDoctor.look() == older)
            try await alter(folder, "INSERT INTO schema_steps VALUES (\(known + 1), 'of tomorrow', 1)")
            let newer = try await finding("schema", fixture(folder))
            #expect(newer.verdict == .bad)
            #expect(newer.found.contains("run the newer version of clarion"))
            #expect(try await newer.found == refusal(fixture(folder)))
        }
    }

    @Test("a database of a development version is bad, with the message of the start, and its master key cannot be tried")
    func unreleased() async throws {
        try await inFolder { folder in
            try await begin(folder)
            try await alter(folder, "UPDATE schema_steps SET name = 'hub tables' WHERE number = 1")
            let finding = try await finding("schema", fixture(folder))
            #expect(finding.verdict == .bad)
            #expect(finding.found.contains("made by a development version before 1.0"))
            #expect(try await finding.found == refusal(fixture(folder)))
            #expect(try await self.finding("master key", fixture(folder)).verdict == .notice)
        }
    }

    @Test("a move that was ended before its end is bad")
    func unfinishedMove() async throws {
        try await inFolder { folder in
            try await begin(folder)
            try await alter(folder, "INSERT INTO schema_steps VALUES (\(DatabaseMove.mark), 'a move that is not finished', 1)")
            let finding = try await finding("schema", fixture(folder))
            #expect(finding.verdict == .bad)
            #expect(finding.found.contains("is not finished; run clarion database move again"))
            #expect(try await finding.found == refusal(fixture(folder)))
        }
    }

    @Test("a database that does not answer is bad once, not three times")
    func away() async throws {
        try await inFolder { (folder) async throws in
            let fixture = fixture(folder, Self.elsewhere)
            #expect(try await finding("database", fixture).verdict == .bad)
            #expect(try await finding("schema", fixture).verdict == .notice)
            #expect(try await finding("master key", fixture).verdict == .notice)
        }
    }
}
