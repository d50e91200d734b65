import ArgumentParser
import ClarionServer

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database", abstract: "Look after a node's database.", subcommands: [Upgrade.self, Move.self, Nodes.self])

    struct Upgrade: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the schema up to date, with the server stopped. The start of the server does the same.")

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let schema = try await DatabaseAdministration(settings: node.settings()).upgrade()
            print(schema.from == schema.to ? "schema \(schema.to) is up to date" : "schema \(schema.from) is now \(schema.to)")
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
            let counts = try await DatabaseAdministration(settings: node.settings()).move { Terminal.say($0) }
            print(TextTable(columns: ["TABLE", "ROWS"], rows: counts.map { [$0.table, "\($0.rows)"] }))
            print("All rows are in PostgreSQL. The file is now clarion.sqlite.moved; keep it until you have a backup.")
        }
    }

    struct Nodes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the nodes that serve a PostgreSQL database.")

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let nodes = try await DatabaseAdministration(settings: node.settings()).nodes()
            let rows = nodes.map { node in
                [
                    node.name, node.role, node.version, Self.text(node.startedAt.seconds),
                    node.isPresent ? "present" : "gone since \(Self.text(node.seenAt.seconds))",
                ]
            }
            print(TextTable(columns: ["NODE", "ROLE", "VERSION", "STARTED", "STATE"], rows: rows))
        }

        private static func text(_ seconds: Int64) -> String {
            Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format()
        }
    }
}
