import ArgumentParser
import CommandLineSupport
import ServerOperations

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content", abstract: "Look after a node's contents.", subcommands: [Move.self, Adopt.self])

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the contents of the data directory into the bucket of the settings.",
            discussion: """
                The server may run: copy once, stop it, copy once more for what came between, and only then start the servers with \
                the bucket: a phone that does not find its content stops asking at some point. The files stay where they are.
                """)

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let administration = ContentAdministration(settings: try node.settings())
            let moved = try await Terminal.showProgress { try await administration.move(progress: $0) }
            print("\(moved.seen) contents, \(moved.copied) of them copied now; all are in the bucket")
        }
    }

    struct Adopt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make the contents in the bucket those of the database of the settings.",
            discussion: """
                For a database that takes the place of another that is off for good: one that was restored, or carried to another \
                machine. A server refuses to start on such a one before. Never while the other is in use: what this database does not \
                name is deleted from the bucket within hours. Documentation/Operations.md has the cases.
                """)

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let isNews = try await ContentAdministration(settings: node.settings()).adopt()
            print(
                isNews
                    ? "the contents in the bucket are now this database's"
                    : "the contents in the bucket are this database's already")
        }
    }
}
