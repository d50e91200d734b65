import ArgumentParser
import ClarionServer

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content", abstract: "Look after a node's contents.", subcommands: [Move.self])

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the contents of the data directory into the bucket of the settings.",
            discussion: """
                The server may run: copy once, stop it, copy once more for what came between, and only then start the servers with \
                the bucket: a phone that does not find its content does not ask for ever. The files stay where they are.
                """)

        @OptionGroup var node: NodeArguments

        func run() async throws {
            let moved = try await ContentAdministration(settings: node.settings()).move { seen, copied in
                Terminal.say("\(seen) looked at, \(copied) copied")
            }
            print("\(moved.seen) contents, \(moved.copied) of them copied now; all are in the bucket")
        }
    }
}
