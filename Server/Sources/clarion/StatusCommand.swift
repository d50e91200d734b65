import ArgumentParser
import RichPushModel

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show where a send stands: its state, the outcomes of its pushes and its receipts.",
        discussion: "Shows what you sent; an admin sees every send. With --wait it ends when every device has an outcome.")

    @OptionGroup var server: ServerArguments

    @Argument(help: "The id that `clarion send` printed.")
    var id: RichID

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Wait until every device has an outcome, at most a minute.")
    var wait = false

    func run() async throws {
        try await server.client().use { client in
            let status = wait ? try await client.waitUntilFinal(id, atMost: .seconds(60)) : try await client.status(id)
            if json {
                print(try JSONOutput.text(of: status))
            } else {
                print(Self.table(status))
            }
            if wait, !BackendHTTPClient.finalStates.contains(status.state) { throw ExitCode.tryAgain }
        }
    }

    private static func table(_ status: SendStatus) -> TextTable {
        let rows = { (kind: String, counts: [String: Int]) in
            counts.sorted { $0.key < $1.key }.map { [kind, $0.key, "\($0.value)"] }
        }
        return TextTable(
            columns: ["STATE", status.state, ""], rows: rows("outcome", status.outcomes) + rows("receipt", status.receipts))
    }
}

struct RecallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recall", abstract: "Take back a notification: its content is removed, and it leaves every inbox.",
        discussion: """
            Takes back what you sent; an admin can take back every notification. Pushes that have not left yet are cancelled. A phone \
            that shows the notification already goes on showing its words.
            """)

    @OptionGroup var server: ServerArguments

    @Argument(help: "The id that `clarion send` printed.")
    var id: RichID

    func run() async throws {
        try await server.client().use { client in
            try await client.recall(id)
            print("recalled \(id)")
        }
    }
}

extension RichID: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
