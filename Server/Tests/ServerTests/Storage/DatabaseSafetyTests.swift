import ClarionTesting
import Foundation
import Logging
import ServiceErrors
import Testing

@testable import ServerComposition
@testable import ServerOperations

/// A throw-away PostgreSQL does not wait for the disk, which no start may accept by itself.
@Suite("A PostgreSQL whose settings lose acknowledged writes")
struct DatabaseSafetyTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func settings(_ folder: String, _ name: String, _ environment: [String: String] = [:]) async throws -> SettingsFixture
    {
        let server = try await ThrowAwayPostgreSQL.ofProcess()
        _ = try await server.run(script: "CREATE DATABASE \(name);")
        return SettingsFixture(
            arguments: ["--data-directory", folder],
            environment: ["CLARION_DATABASE_URL": server.url(database: name)].merging(environment) { $1 })
    }

    private func doctor(_ fixture: SettingsFixture) async throws -> DoctorCheck.Finding {
        try #require(await Doctor.checks(for: fixture.read()).first { $0.name == "kept writes" }?.look())
    }

    private func start(_ fixture: SettingsFixture, logger: Logger = Self.quiet) async throws -> ServerNode {
        try await ServerNode.make(try #require(fixture.read().settings), logger: logger)
    }

    @Test("ends the start with the remedy, and the doctor says the same")
    func refused() async throws {
        let folder = NSTemporaryDirectory() + "clarion-safety-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let fixture = try await settings(folder, "refused")
        let error = await #expect(throws: ServiceError.self) { _ = try await start(fixture) }
        #expect(error?.detail?.contains("fsync is off") == true, "\(error?.detail ?? "")")
        #expect(error?.detail?.contains("set fsync = on in postgresql.conf") == true)
        let finding = try await doctor(fixture)
        #expect(finding.verdict == .bad)
        #expect(finding.found.contains("; full_page_writes is off"))
        #expect(finding.remedy?.contains("set fsync = on") == true)
    }

    @Test("is used where database-without-fsync allows it, and the doctor notes it")
    func allowed() async throws {
        let folder = NSTemporaryDirectory() + "clarion-safety-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let fixture = try await settings(folder, "allowed", ["CLARION_DATABASE_WITHOUT_FSYNC": "true"])
        let node = try await start(fixture)
        await node.storage.close()
        #expect(try await doctor(fixture).verdict == .notice)
    }

    @Test("says in one line of the start and to the doctor that synchronous_commit is off, and is used")
    func asynchronousCommits() async throws {
        let folder = NSTemporaryDirectory() + "clarion-safety-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let fixture = try await settings(folder, "asynchronous", ["CLARION_DATABASE_WITHOUT_FSYNC": "true"])
        let server = try await ThrowAwayPostgreSQL.ofProcess()
        _ = try await server.run(script: "ALTER DATABASE asynchronous SET synchronous_commit = off;")
        let notes = LogNotes()
        let node = try await start(fixture, logger: notes.logger)
        await node.storage.close()
        let sentence = "synchronous_commit is off for this database; Clarion asks for it in each write"
        #expect(notes.lines.filter { $0.message == sentence }.map(\.level) == [.notice])
        let finding = try await doctor(fixture)
        #expect(finding.verdict == .notice && finding.found.hasSuffix("; \(sentence)"), "\(finding.found)")
    }
}
