import ClarionTesting
import Foundation
import SQLStorage
import Testing

@testable import PostgresDatabase

@Suite("PostgreSQL with TLS and passwords")
struct SecureConnectionTests {
    /// Characters that a URL has to escape, so that a message could show either form.
    private static let password = "pass word/of:clarion@1"
    private static let escaped = "pass%20word%2Fof%3Aclarion%401"

    /// A server with TLS and SCRAM that has the name `localhost`, and a folder with what its clients know.
    private struct Bench {
        let server: ThrowAwayPostgreSQL
        let folder: String

        /// Where the server is; the rest as the test likes.
        func url(user: String = "app:\(SecureConnectionTests.escaped)", host: String = "localhost", _ query: String) -> String {
            "postgres://\(user)@\(host):\(server.port)/app?\(query)"
        }

        var authority: String { "sslrootcert=\(folder)/authority.pem" }

        /// What the connection is like, or the sentence for the operator.
        func connect(_ url: String) async throws -> Result<String, SQLFault> {
            var limits = TemporaryDatabase.limits
            (limits.writers, limits.readers) = (1, 1)
            let database = try PostgresDatabase(DatabaseURL(url), limits: limits, logger: TemporaryDatabase.quiet)
            defer { database.close() }
            let question = "SELECT version || ' ' || current_user FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl"
            do { return .success(try await database.rows(question).first?.first?.shown ?? "plain") } catch let fault as SQLFault {
                return .failure(fault)
            }
        }

        /// The sentence for the operator; the password is in it in no form.
        func refusal(_ url: String) async throws -> String {
            switch try await connect(url) {
            case .success(let what):
                Issue.record("connected: \(what)")
                return ""
            case .failure(let fault):
                let text = "\(fault)"
                // Only a change of settings helps, so no caller waits.
                if case SQLFault.misconfigured = fault {} else { Issue.record("not said to be a matter of settings: \(text)") }
                for secret in [password, escaped, "wrong-secret"] { #expect(!text.contains(secret), "\(text)") }
                return text
            }
        }
    }

    private func use(certifiedFor host: String = "localhost", _ body: (Bench) async throws -> Void) async throws {
        let authority = try TestAuthority("authority of the database")
        let folder = NSTemporaryDirectory() + "clarion-secure-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(authority.certificatePEM.utf8).write(to: URL(fileURLWithPath: folder + "/authority.pem"))
        try Data(TestAuthority("another authority").certificatePEM.utf8).write(
            to: URL(fileURLWithPath: folder + "/other.pem"))
        try await ThrowAwayPostgreSQL.with(authority.listener(for: host)) { server in
            _ = try await server.run(
                script: """
                    CREATE ROLE app LOGIN PASSWORD '\(Self.password)';
                    CREATE DATABASE app OWNER app;
                    """)
            try await body(Bench(server: server, folder: folder))
        }
    }

    @Test("with the right authority, name and password the way is encrypted and checked, for calls between nodes as well")
    func good() async throws {
        try await use { bench in
            let url = bench.url("sslmode=verify-full&\(bench.authority)")
            #expect(try await bench.connect(url).get() == "TLSv1.3 app")
            let listener = try PostgresListener(DatabaseURL(url), channel: SQLNodeStore.channel, logger: TemporaryDatabase.quiet)
            for await _ in listener.calls { break }
            listener.close()
            // The password is not sent as it is: the server keeps, and asks for, proof of it.
            let kept = try await bench.server.run(script: "SELECT rolpassword FROM pg_authid WHERE rolname = 'app';")
            #expect(kept.hasPrefix("SCRAM-SHA-256$"))
        }
    }

    @Test("a long answer comes whole through the encryption, which has pieces of its own", arguments: [1, 100, 110, 120, 20_000])
    func longAnswer(rows: Int64) async throws {
        try await use { bench in
            let url = bench.url("sslmode=verify-full&\(bench.authority)")
            let database = try PostgresDatabase(
                DatabaseURL(url), limits: TemporaryDatabase.limits, logger: TemporaryDatabase.quiet)
            defer { database.close() }
            let select = SQLStatement("SELECT n, repeat('x', 150) FROM generate_series(1, $1) n")
            let read = try await database.read { connection in
                try connection.rows(select, [.integer(rows)]).map { try $0.integer(0) }
            }
            #expect(read == Array(1...rows))
        }
    }

    @Test("another authority, another name, none to trust, no encryption: each is refused with what to correct")
    func certificates() async throws {
        try await use { bench in
            let other = try await bench.refusal(bench.url("sslmode=verify-full&sslrootcert=\(bench.folder)/other.pem"))
            #expect(other.contains("certificate verify failed") && other.contains("sslrootcert has to name"), "\(other)")
            let name = try await bench.refusal(bench.url(host: "127.0.0.1", "sslmode=verify-full&\(bench.authority)"))
            #expect(name.contains("does not match host name") && name.contains("the name in its certificate"), "\(name)")
            // With `verify-ca` the host name is not checked.
            let loose = bench.url(host: "127.0.0.1", "sslmode=verify-ca&\(bench.authority)")
            #expect(try await bench.connect(loose).get() == "TLSv1.3 app")
            let missing = try await bench.refusal(bench.url("sslmode=verify-full&sslrootcert=\(bench.folder)/none.pem"))
            #expect(missing.contains("none.pem") && missing.contains("does not exist"), "\(missing)")
            let plain = try await bench.refusal(bench.url("sslmode=disable"))
            #expect(plain.contains("no encryption") && plain.contains("sslmode=require"), "\(plain)")
        }
    }

    @Test("a wrong password, none, an unknown user and database: each is refused with what to correct and without the password")
    func passwords() async throws {
        try await use { bench in
            let mode = "sslmode=verify-full&\(bench.authority)"
            let wrong = try await bench.refusal(bench.url(user: "app:wrong-secret", mode))
            #expect(wrong.contains("password authentication failed") && wrong.contains("PGPASSWORD"), "\(wrong)")
            let none = try await bench.refusal(bench.url(user: "app", mode + "&passfile=/dev/null"))
            #expect(none.contains("no password supplied") && none.contains("PGPASSWORD"), "\(none)")
            let role = try await bench.refusal(bench.url(user: "nobody:\(Self.escaped)", mode))
            #expect(role.contains("password authentication failed"), "\(role)")
            let url = bench.url(mode).replacingOccurrences(of: "/app?", with: "/absent?")
            let database = try await bench.refusal(url)
            #expect(database.contains("does not exist") && database.contains("createdb"), "\(database)")
        }
    }

    @Test("a password file is read as every client reads it, and one that others can read is not")
    func passwordFile() async throws {
        try await use { bench in
            let file = bench.folder + "/passwords"
            let line = "localhost:\(bench.server.port):app:app:\(Self.password.replacingOccurrences(of: ":", with: "\\:"))\n"
            try Data(line.utf8).write(to: URL(fileURLWithPath: file))
            chmod(file, 0o600)
            let url = bench.url(user: "app", "sslmode=verify-full&\(bench.authority)&passfile=\(file)")
            #expect(try await bench.connect(url).get() == "TLSv1.3 app")
            chmod(file, 0o644)
            #expect(try await bench.refusal(url).contains("no password supplied"))
        }
    }

    /// Runs a command on a database, with these variables and no others of PostgreSQL's.
    private func upgrade(_ folder: String, _ variables: [String: String]) async throws -> (status: Int32, printed: String) {
        let output = folder + "/output-\(UUID().uuidString)"
        let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let places = [Bundle.main.bundleURL.deletingLastPathComponent(), tests].map { $0.appending(path: "clarion").path }
        let program = try #require(places.first(where: FileManager.default.isExecutableFile))
        var command = ChildProcess.Command(program, ["database", "upgrade"], output: output)
        let environment = ["CLARION_DATA_DIRECTORY": folder + "/data", "HOME": folder].merging(variables) { $1 }
        command.environment = ProcessInfo.processInfo.environment.filter { $0.key == "PATH" || $0.key.hasPrefix("LD_") }
            .merging(environment) { $1 }
        let status = try await ChildProcess(command).exitStatus()
        return (status, try String(contentsOfFile: output, encoding: .utf8))
    }

    @Test("what the URL leaves out comes from the variables, the password file and the service that every client knows")
    func environment() async throws {
        try await use { bench in
            let (file, services) = (bench.folder + "/passwords", bench.folder + "/services")
            let quoted = Self.password.replacingOccurrences(of: ":", with: "\\:")
            try Data("*:*:*:app:\(quoted)\n".utf8).write(to: URL(fileURLWithPath: file))
            chmod(file, 0o600)
            let secure = ["PGSSLMODE": "verify-full", "PGSSLROOTCERT": bench.folder + "/authority.pem"]
            let service = """
                [clarion]
                host=localhost
                port=\(bench.server.port)
                dbname=app
                user=app
                password=\(Self.password)
                sslmode=verify-full
                sslrootcert=\(bench.folder)/authority.pem

                """
            try Data(service.utf8).write(to: URL(fileURLWithPath: services))
            let url = ["CLARION_DATABASE_URL": "postgres://localhost:\(bench.server.port)/app", "PGUSER": "app"]
            let ways = [
                url.merging(secure) { $1 }.merging(["PGPASSWORD": Self.password]) { $1 },
                url.merging(secure) { $1 }.merging(["PGPASSFILE": file]) { $1 },
                ["CLARION_DATABASE_URL": "postgres://", "PGSERVICE": "clarion", "PGSERVICEFILE": services],
            ]
            for way in ways {
                let (status, printed) = try await upgrade(bench.folder, way)
                // It got there, and begins no node.
                #expect(status == 1 && printed.contains("there is no node at"), "\(printed)")
                #expect(printed.contains("is database-url right?"), "\(printed)")
            }
            let tables = try await bench.server.run(
                script: "\\connect app\nSELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public';")
            #expect(tables.hasPrefix("0"))
            #expect(!FileManager.default.fileExists(atPath: bench.folder + "/data"))
            let (status, printed) = try await upgrade(
                bench.folder, url.merging(secure) { $1 }.merging(["PGPASSWORD": "wrong-secret"]) { $1 })
            #expect(status != 0 && printed.contains("PGPASSWORD") && !printed.contains("wrong-secret"), "\(printed)")
            let (_, absent) = try await upgrade(
                bench.folder, ["CLARION_DATABASE_URL": "postgres://", "PGSERVICE": "absent", "PGSERVICEFILE": services])
            #expect(absent.contains("definition of service") && absent.contains("PGSERVICEFILE"), "\(absent)")
        }
    }
}

extension SQLValue {
    fileprivate var shown: String? { if case .text(let text) = self { text } else { nil } }
}
