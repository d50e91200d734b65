import ClarionTesting
import EngineTesting
import SQLStorage
import Testing

@testable import PostgresDatabase

@Suite("Settings of a PostgreSQL server")
struct PostgresSettingsTests {
    private func sentences(_ weight: PostgresSettings.Finding.Weight, _ server: ThrowAwayPostgreSQL) async throws -> [String] {
        let store = try await TemporaryDatabase(on: server)
        defer { store.database.close() }
        return try await store.database.settings().findings.filter { $0.weight == weight }.map(\.sentence)
    }

    @Test("a server that waits for the disk and has no replica has nothing to say")
    func sound() async throws {
        try await ThrowAwayPostgreSQL.with(settings: ["fsync=on", "full_page_writes=on"]) { server in
            let store = try await TemporaryDatabase(on: server)
            try await SchemaMigrator().migrate(store.database, at: .init(seconds: 1))
            #expect(try await store.database.settings().findings.isEmpty)
            try await store.database.write { try $0.script("ALTER TABLE users SET UNLOGGED") }
            let finding = try #require(try await store.database.settings().findings.first)
            #expect(finding.weight == .loses)
            #expect(finding.sentence.hasSuffix("unlogged tables: users"))
            store.database.close()
        }
    }

    @Test("a synchronous_commit that is off for the database, its user or the server is named, and loses nothing")
    func asynchronousCommits() async throws {
        let safe = ["fsync=on", "full_page_writes=on"]
        try await ThrowAwayPostgreSQL.with(settings: safe) { server in
            for owner in ["DATABASE", "ROLE CURRENT_USER IN DATABASE"] {
                let store = try await TemporaryDatabase(on: server)
                _ = try await store.psql("ALTER \(owner) \(store.name) SET synchronous_commit = off")
                let findings = try await store.database.settings().findings
                #expect(findings.map(\.weight) == [.covered], "\(owner)")
                #expect(
                    findings.first?.sentence == "synchronous_commit is off for this database; Clarion asks for it in each write")
                store.database.close()
            }
        }
        try await ThrowAwayPostgreSQL.with(settings: safe + ["synchronous_commit=off"]) { server in
            let found = try await sentences(.covered, server)
            #expect(found.count == 1, "\(found)")
        }
    }

    @Test("each setting that loses or risks acknowledged writes is named")
    func unsound() async throws {
        let settings = ["zero_damaged_pages=on", "ignore_checksum_failure=on"]
        try await ThrowAwayPostgreSQL.with(settings: settings) { server in
            #expect(try await sentences(.loses, server).map { $0.prefix(12) } == ["fsync is off"])
            let risks = try await sentences(.risks, server)
            #expect(
                risks.map { $0.prefix { $0 != " " } } == ["full_page_writes", "zero_damaged_pages", "ignore_checksum_failure"])
            try await server.withReplica("one") { _ in
                while try await server.run(script: "SELECT COUNT(*) FROM pg_stat_replication;") != "1\n" {
                    try await Task.sleep(for: .milliseconds(20))
                }
                let risks = try await sentences(.risks, server)
                #expect(risks.last?.hasPrefix("1 replicas follow, none is synchronous") == true, "\(risks)")
                _ = try await server.run(script: "ALTER SYSTEM SET synchronous_standby_names = 'one'; SELECT pg_reload_conf();")
                while try await sentences(.risks, server).count != 3 { try await Task.sleep(for: .milliseconds(20)) }
            }
        }
    }
}
