import ArgumentParser
import CommandLineSupport
import ServerOperations
import ServerSettings
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database", abstract: "Look after a node's database.",
        subcommands: [Upgrade.self, Backup.self, Check.self, Compact.self, Move.self, Nodes.self])

    struct Upgrade: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the schema up to date, with the server stopped. The start of the server does the same.")

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let administration = DatabaseAdministration(settings: try node.settings())
            let schema = try await Terminal.showProgress { try await administration.upgrade(progress: $0) }
            print(schema.from == schema.to ? "schema \(schema.to) is up to date" : "schema \(schema.from) is now \(schema.to)")
        }
    }

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the database file as it is at one moment into a new file, while the server runs.",
            discussion: """
                The master key and the contents belong to a backup as well: copy master-key before and the folder content after, from \
                the data directory. Documentation/Operations.md has the steps.
                """)

        @OptionGroup var node: NodeArguments
        @Argument(help: "The new file.") var path: String

        func run() async throws {
            let settings = try node.settings()
            guard settings.database != nil || !FileManager.default.fileExists(atPath: path) else {
                throw ServiceError(.conflict, "\(path) exists already; a backup is never written over another file")
            }
            try await Terminal.showProgress { progress in
                try await DatabaseAdministration(settings: settings).backUp(to: path, progress: progress)
            }
            print("\(path) is complete")
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Look for damage in every page of the database file, or of a backup; a server may be using it.",
            discussion:
                "The file is read twice from end to end, and nothing is written into it. PostgreSQL has pg_amcheck for that.")

        @OptionGroup var node: NodeArguments
        @Argument(help: "The file; the database of the data directory when there is none here.") var path: String?

        func run() async throws {
            let administration = DatabaseAdministration(settings: try node.settings())
            let file = try await Terminal.showProgress { try await administration.check(path, progress: $0) }
            print("\(file) has no damage")
        }
    }

    struct Compact: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give the space of deleted rows in the database file back to the disk, while the server runs.",
            discussion: """
                A server's writes wait for one short transaction at most. A file of an earlier version has to be written anew for that, \
                once and with --rewrite. A restored copy of `clarion database backup` needs that no more. PostgreSQL has autovacuum.
                """)

        @Flag(help: "Write a file of an earlier version anew. No server can write meanwhile.")
        var rewrite = false

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let administration = DatabaseAdministration(settings: try node.settings())
            let result = try await Terminal.showProgress { progress in
                try await administration.compact(rewrites: rewrite, progress: progress) { Terminal.noteBesideProgress($0) }
            }
            print("\(max(0, result.before - result.after)) bytes were given back; the file has \(result.after)")
            if !result.isCut { Terminal.note("A reader keeps the log; the file gets shorter once it has ended.") }
            if !result.isComplete { throw ExitCode.failure }
        }
    }

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move the database file of the data directory to PostgreSQL, with the server stopped.",
            discussion: """
                The settings name both: data-directory, where the file lies, and database-url, where it is to go. That database has to \
                be empty. All rows are moved or none, and each is read back and compared; after a move that was cut off, run it again.
                """)

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let administration = DatabaseAdministration(settings: try node.settings())
            let counts = try await Terminal.showProgress { progress in
                try await administration.move(progress: progress) { Terminal.noteBesideProgress($0) }
            }
            print(TextTable(columns: ["TABLE", "ROWS"], rows: counts.map { [$0.table, "\($0.rows)"] }))
            print("All rows are in PostgreSQL. The file is now clarion.sqlite.moved; keep it until you have a backup.")
        }
    }

    struct Nodes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the nodes that serve a PostgreSQL database.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let settings = try node.settings()
            guard settings.database != nil else {
                throw ServiceError(
                    .conflict,
                    """
                    the database is a file in \(settings.dataDirectory): it has one server, which is not listed. Nodes share a \
                    PostgreSQL database, which database-url names
                    """)
            }
            let nodes = try await DatabaseAdministration(settings: settings).nodes()
            if json { return print(try JSONOutput.text(of: nodes.map(Entry.init))) }
            let rows = nodes.map { node in
                [
                    node.name, node.role, node.version, Self.text(node.startedAt.seconds),
                    node.isPresent ? "present" : "gone since \(Self.text(node.seenAt.seconds))",
                ]
            }
            print(TextTable(columns: ["NODE", "ROLE", "VERSION", "STARTED", "STATE"], rows: rows))
            if !nodes.contains(where: \.sends) {
                print("No node sends: what is accepted waits for one with the role worker or all.")
            }
        }

        /// Times are in milliseconds since 1970.
        private struct Entry: Encodable {
            var name: String
            var role: String
            var version: String
            var startedAt: Int64
            var seenAt: Int64
            var isPresent: Bool
            var sends: Bool

            init(_ node: DatabaseAdministration.Node) {
                (name, role, version, isPresent, sends) = (node.name, node.role, node.version, node.isPresent, node.sends)
                (startedAt, seenAt) = (node.startedAt.milliseconds, node.seenAt.milliseconds)
            }
        }

        private static func text(_ seconds: Int64) -> String {
            Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format()
        }
    }
}

/// Which node's data a command works on.
struct NodeArguments: ParsableArguments {
    @Option(name: .customLong("config"), help: "The file of settings.")
    var path: String?

    @Option(help: "The node's data, if not where the settings say.")
    var dataDirectory: String?

    /// The users of that node.
    func users() throws -> UserAdministration { UserAdministration(settings: try settings()) }

    /// The settings of that node.
    func settings() throws -> Settings {
        let override = dataDirectory.map { ["--data-directory", $0] } ?? []
        let arguments = try SettingsArguments.parse(override + (path.map { ["--config", $0] } ?? []))
        return try arguments.load()
    }
}
