import EngineTesting
import Foundation
import NIOPosix
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import Testing

@testable import ClarionServer

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
            #expect(finding.verdict == .bad && finding.found.contains("set database-url"))
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
            #expect(finding.verdict == .bad && finding.found.contains("is master-key the one it was stored with?"))
            #expect(try await finding.found == refusal(strange))
            let path = folder + "/master-key"
            try FileManager.default.removeItem(atPath: path)
            #expect(try await self.finding("master key", fixture(folder)).verdict == .bad)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("a newer schema is bad, an older one is told and left as it is")
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
            #expect(newer.verdict == .bad && newer.found.contains("run the newer version of clarion"))
            #expect(try await newer.found == refusal(fixture(folder)))
        }
    }

    @Test("a database of a development version is bad, in the words of the start, and its master key cannot be tried")
    func unreleased() async throws {
        try await inFolder { folder in
            try await begin(folder)
            try await alter(folder, "UPDATE schema_steps SET name = 'hub tables' WHERE number = 1")
            let finding = try await finding("schema", fixture(folder))
            #expect(finding.verdict == .bad && finding.found.contains("made by a development version before 1.0"))
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
            #expect(finding.verdict == .bad && finding.found.contains("is not finished; run clarion database move again"))
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

    @Test("a port on which only connections of the past are left is free")
    func portOfThePast() async throws {
        var found = try await findingOfPortOfThePast()
        // A port that nobody listens at may be given to another test meanwhile.
        for _ in 1...3 where found.verdict != .good { found = try await findingOfPortOfThePast() }
        #expect(found.verdict == .good, "\(found.found)")
    }

    private func findingOfPortOfThePast() async throws -> DoctorCheck.Finding {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                // The server's end closes first, so that it is the one that remembers the connection.
                channel.eventLoop.scheduleTask(in: .milliseconds(20)) { channel.close(promise: nil) }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port).get()
        try await client.closeFuture.get()
        try await server.close()
        return try await finding("listening port", SettingsFixture(arguments: ["--listen-port", "\(port)"]))
    }
}
