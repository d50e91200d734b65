import PostgresDatabase
import Testing

@Suite("Database URLs")
struct DatabaseURLTests {
    @Test(
        "what PostgreSQL's clients take is taken",
        arguments: [
            ("postgres://", "postgres://"), ("postgresql://db", "postgresql://db"),
            ("postgres:///clarion", "postgres:///clarion"),
            ("postgres://ann:pw@db:5433/clarion?sslmode=verify-full&sslrootcert=/etc/ca.pem", "postgres://ann@db:5433/clarion"),
            ("postgres://ann@[::1]:5432,10.0.0.1/x", "postgres://ann@[::1]:5432,10.0.0.1/x"),
            ("postgres://ann@/x?host=%2Frun%2Fpostgresql", "postgres://ann@/x"),
            ("postgres://ann:p%40ss%2F@%2Frun%2Fpg/x?options=-c%20geqo=off", "postgres://ann@%2Frun%2Fpg/x"),
        ])
    func accepted(_ text: String, _ shown: String) throws {
        let url = try DatabaseURL(text)
        var dumped = ""
        dump(url, to: &dumped)
        #expect("\(url)" == shown)
        #expect("\(String(reflecting: url))" == shown)
        #expect(!dumped.contains("pw"))
    }

    @Test(
        "a text that would be read otherwise than it is meant is refused, and the refusal repeats nothing of it",
        arguments: [
            ("mysql://db", DatabaseURL.Problem.scheme), ("host=db password=secret", .scheme), ("", .scheme),
            ("postgres://ann:sec@ret@db/x", .host), ("postgres://ann:sec/ret@db/x", .host),
            ("postgres://ann:se?cret@db/x", .host),
            ("postgres://ann:1?secret@db/x", .parameters), ("postgres://ann:sec%ret@db/x", .userInfo),
            ("postgres://ann:secret%00@db/x", .userInfo), ("postgres://ann:sec ret@db/x", .userInfo),
            ("postgres://db:99999/x", .host), ("postgres://[secret]/x", .host), ("postgres://db/x/y", .path),
            ("postgres://db/x?sslmode", .parameters), ("postgres://db/x?pass word=secret", .parameters),
        ])
    func refused(_ text: String, _ problem: DatabaseURL.Problem) {
        #expect(throws: problem) { try DatabaseURL(text) }
        #expect(!problem.rule.contains("secret"))
        #expect(!"\(problem)".contains("secret"))
    }

    @Test("a server that cannot be reached is named without the password")
    func password() async throws {
        for text in ["postgres://ann:s3cr%65t@127.0.0.1:1/x", "postgres://127.0.0.1:1/x?password=s3cr%65t&user=ann"] {
            let database = try PostgresDatabase(try DatabaseURL(text), logger: TemporaryDatabase.quiet)
            let error = await #expect(throws: (any Error).self) { try await database.number("SELECT 1") }
            let shown = "\(String(describing: error))"
            #expect(shown.contains("127.0.0.1") && !shown.contains("s3cr"), "\(shown)")
        }
    }
}
