import ArgumentParser
import ClarionServer

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database", abstract: "Look after a node's database.", subcommands: [Upgrade.self])

    struct Upgrade: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the schema up to date, with the server stopped. The start of the server does the same.")

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let schema = try await DatabaseAdministration(settings: node.settings()).upgrade()
            print(schema.from == schema.to ? "schema \(schema.to) is up to date" : "schema \(schema.from) is now \(schema.to)")
        }
    }
}
