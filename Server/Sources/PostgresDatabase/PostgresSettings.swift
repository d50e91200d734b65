import SQLStorage

/// The settings of a PostgreSQL server on which it depends whether an acknowledged write is kept, as the server tells them.
///
/// Each transaction sets for itself what a transaction can set; of that only `synchronous_commit` stands here, so that operators
/// need not wonder. The rest only the operator of the server can change.
public struct PostgresSettings: Hashable, Sendable {
    /// What a setting means for the writes that were acknowledged.
    public struct Finding: Hashable, Sendable {
        /// How much it weighs.
        public enum Weight: Hashable, Sendable {
            /// A crash or a loss of power of the database's machine can lose what was acknowledged.
            case loses
            /// Something can be lost under a condition that the sentence names.
            case risks
            /// Nothing is lost, because each write sets for itself what it needs.
            case covered
        }

        public let weight: Weight
        /// What is so and what can be lost, as a sentence without secrets.
        public let sentence: String
        /// What the operator can do.
        public let remedy: String
    }

    /// The settings by name, with PostgreSQL's own words as values.
    let values: [String: String]
    /// Tables that a crash of the server empties.
    let unloggedTables: [String]
    /// How many replicas stream from the server.
    let replicas: Int

    /// What the operator has to know; nothing when all is well.
    public var findings: [Finding] { lossFindings + riskFindings + coveredFindings }

    private func isOff(_ name: String) -> Bool { values[name] == "off" }

    private var lossFindings: [Finding] {
        var found: [Finding] = []
        if isOff("fsync") {
            found.append(
                Finding(
                    weight: .loses,
                    sentence: "fsync is off: a loss of power at the database loses or damages acknowledged writes",
                    remedy: "set fsync = on in postgresql.conf and reload the server"))
        }
        if !unloggedTables.isEmpty {
            found.append(
                Finding(
                    weight: .loses,
                    sentence: "a crash of the database empties these unlogged tables: \(unloggedTables.joined(separator: ", "))",
                    remedy: "run ALTER TABLE … SET LOGGED for each of them"))
        }
        return found
    }

    private var riskFindings: [Finding] {
        var found: [Finding] = []
        if isOff("full_page_writes") {
            found.append(
                Finding(
                    weight: .risks,
                    sentence: "full_page_writes is off: a loss of power damages pages unless the file system never tears them",
                    remedy: "set full_page_writes = on in postgresql.conf and reload the server"))
        }
        for name in ["zero_damaged_pages", "ignore_checksum_failure"] where values[name] == "on" {
            found.append(
                Finding(
                    weight: .risks, sentence: "\(name) is on: rows on a damaged page are lost or changed without an error",
                    remedy: "set \(name) = off"))
        }
        if replicas > 0, values["synchronous_standby_names"]?.isEmpty ?? true {
            found.append(
                Finding(
                    weight: .risks,
                    sentence:
                        "\(replicas) replicas follow, none is synchronous: a failover can lose the last acknowledged writes",
                    remedy: "name the replicas that may take over in synchronous_standby_names, see Documentation/PostgreSQL.md"))
        }
        return found
    }

    private var coveredFindings: [Finding] {
        guard isOff("synchronous_commit") else { return [] }
        return [
            Finding(
                weight: .covered, sentence: "synchronous_commit is off for this database; Clarion asks for it in each write",
                remedy: "nothing for Clarion; set synchronous_commit = on where other programs write into the database as well")
        ]
    }
}

extension PostgresDatabase {
    /// Asks the server for its settings. Throws `SQLFault`.
    public func settings() async throws -> PostgresSettings {
        try await read { connection in
            var values: [String: String] = [:]
            for row in try connection.rows(Self.selectSettings, []) { values[try row.text(0)] = try row.text(1) }
            return PostgresSettings(
                values: values, unloggedTables: try connection.rows(Self.selectUnlogged, []).map { try $0.text(0) },
                replicas: Int(try connection.row(Self.countReplicas, [])?.integer(0) ?? 0))
        }
    }

    /// Every statement that asks for settings, for the test that prepares them.
    static let settingStatements = [selectSettings, selectUnlogged, countReplicas]

    private static let selectSettings = SQLStatement(
        """
        SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes', 'ignore_checksum_failure', \
        'synchronous_commit', 'synchronous_standby_names', 'zero_damaged_pages')
        """)
    /// Of the schema in use, which is Clarion's own.
    private static let selectUnlogged = SQLStatement(
        """
        SELECT CAST(relname AS TEXT) FROM pg_catalog.pg_class WHERE relkind = 'r' AND relpersistence = 'u'
            AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema()) ORDER BY relname
        """)
    /// Only replicas of the whole server: those of logical replication never take over.
    private static let countReplicas = SQLStatement(
        """
        SELECT COUNT(*) FROM pg_catalog.pg_stat_replication WHERE NOT pid IN \
        (SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL)
        """)
}
