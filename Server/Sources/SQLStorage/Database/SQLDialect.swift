/// The few words in which the engines differ. Everything else is one text.
public struct SQLDialect: Sendable, Hashable {
    /// `sqlite` or `postgresql`.
    public let name: String
    /// The column type for 64-bit integers.
    public let integer: String
    /// The column type for bytes.
    public let bytes: String
    /// The column type for text that compares bytewise.
    public let text: String
    /// Appended to the inner select of a lease so that nodes skip each other's rows; empty where there is one writer.
    public let skipLocked: String
    /// Appended to a table whose rows are to lie in the order of its primary key, where the engine can do that.
    public let clustered: String
    /// The column type of a primary key that the engine counts up and never gives twice.
    public let serial: String
    /// Asks for the names of all tables.
    let tableNames: SQLStatement
    /// Asks for the moment, in milliseconds, by the engine's own clock.
    let clock: SQLStatement
    /// Notifies the channel `$1`; absent where the engine has no listeners.
    let call: SQLStatement?

    /// Makes the counter of order numbers.
    let orderNumbers: String
    /// Takes the current order number and counts it up.
    public let nextOrder: SQLStatement

    /// Asks where a database lies; absent where that is a file.
    let place: PlaceQuestions?

    /// How a server is asked for what no copy of a database has.
    struct PlaceQuestions: Sendable, Hashable {
        /// Whether `server` may be asked: 1 or 0.
        let mayAskForServer: SQLStatement
        /// The number that the server got when it was made.
        let server: SQLStatement
        /// The number of the database in it, and the schema in use.
        let database: SQLStatement
    }

    /// SQLite 3.35 or later.
    public static let sqlite = SQLDialect(
        name: "sqlite", integer: "INTEGER", bytes: "BLOB", text: "TEXT", skipLocked: "",
        clustered: " WITHOUT ROWID", serial: "INTEGER PRIMARY KEY AUTOINCREMENT",
        tableNames: SQLStatement("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"),
        clock: SQLStatement("SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"), call: nil,
        orderNumbers: """
            CREATE TABLE \(OrderNumbers.name) (last_value INTEGER NOT NULL);
            INSERT INTO \(OrderNumbers.name) (last_value) VALUES (\(OrderNumbers.first));
            """,
        nextOrder: SQLStatement(composed: "UPDATE \(OrderNumbers.name) SET last_value = last_value + 1 RETURNING last_value - 1"),
        place: nil)

    /// PostgreSQL 13 or later.
    public static let postgresql = SQLDialect(
        name: "postgresql", integer: "BIGINT", bytes: "BYTEA", text: "TEXT COLLATE \"C\"", skipLocked: " FOR UPDATE SKIP LOCKED",
        clustered: "", serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        tableNames: SQLStatement("SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()"),
        clock: SQLStatement("SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)"),
        call: SQLStatement("SELECT 1 FROM pg_notify($1, '')"),
        orderNumbers: """
            CREATE SEQUENCE \(OrderNumbers.name) AS BIGINT START WITH \(OrderNumbers.first);
            SELECT nextval('\(OrderNumbers.name)');
            """,
        nextOrder: SQLStatement(composed: "SELECT nextval('\(OrderNumbers.name)') - 1"),
        place: PlaceQuestions(
            mayAskForServer: SQLStatement(
                """
                SELECT CAST(CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN 1 ELSE 0 END AS BIGINT)
                """),
            server: SQLStatement("SELECT CAST(system_identifier AS TEXT) FROM pg_catalog.pg_control_system()"),
            database: SQLStatement(
                """
                SELECT CAST(oid AS TEXT) || ' ' || COALESCE(CAST(current_schema() AS TEXT), '') FROM pg_database
                WHERE datname = current_database()
                """)))
}

/// The text of one operation, written once for every engine, with values as `$1`, `$2`, … in order of position.
///
/// Every statement must be listed in `SQLStatement.all` of its store, so that a test can prepare each on both engines.
public struct SQLStatement: Sendable, Hashable {
    /// The SQL text. Words of the dialect (row locks, for example) are filled in before it gets here.
    public let text: String
    /// The numbers of the values in the order in which the text first names each: an engine that takes `$1` for a name counts
    /// its parameters that way.
    public let appearance: [Int]

    /// Creates a statement from a text known at compile time.
    public init(_ text: StaticString) { self.init(composed: text.description) }

    /// Creates a statement whose text was put together from the dialect's words; never from input.
    public init(composed text: String) {
        self.text = text
        appearance = Self.appearance(in: text)
    }

    /// So many values for a list in parentheses: `$2, $3, …`.
    static func places(_ count: Int, from first: Int) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }

    /// No text of ours has a dollar sign for anything else.
    private static func appearance(in text: String) -> [Int] {
        var numbers: [Int] = []
        for part in text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).dropFirst() {
            let digits = part.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if let number = Int(String(decoding: digits, as: UTF8.self)), !numbers.contains(number) { numbers.append(number) }
        }
        return numbers
    }

    public static func == (left: SQLStatement, right: SQLStatement) -> Bool { left.text == right.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
