import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
            that shows the notification already goes on showing its texts.
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

struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sends", abstract: "List recent sends, newest first.",
        discussion: """
            Lists what you sent; an admin sees every send. DUE is when it was to leave. DELIVERED counts the devices whose push APNs took, \
            FAILED those that got none; where the server sends through a hub elsewhere they are unknown here. `clarion status` says more of \
            one send.
            """)

    /// The most sends of one call, so that a slip does not ask for thousands.
    private static let limits = 1...1_000
    /// What the server gives in one page.
    private static let page = 50

    @OptionGroup var server: ServerArguments

    @Option(help: "How many sends to list, 1 to 1000.")
    var limit = 20

    @Option(help: "List the sends before the one with this id.")
    var before: RichID?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard Self.limits.contains(limit) else { throw ValidationError("--limit is a number from 1 to 1000") }
    }

    func run() async throws {
        try await server.client().use { client in
            var (sends, next) = ([SendListEntry](), before.map { "\($0)" })
            repeat {
                let page = try await client.sends(before: next, limit: min(Self.page, limit - sends.count))
                sends += page.sends
                next = page.next
            } while next != nil && sends.count < limit
            print(json ? try JSONOutput.text(of: sends) : Self.table(sends).description)
        }
    }

    private static func table(_ sends: [SendListEntry]) -> TextTable {
        TextTable(
            columns: ["ID", "DUE", "SENDER", "STATE", "DEVICES", "DELIVERED", "FAILED", "AUDIENCE"], rows: sends.map(row))
    }

    private static func row(_ send: SendListEntry) -> [String] {
        let outcomes = send.status?.outcomes
        let delivered = outcomes?["accepted", default: 0]
        let failed = outcomes?.filter { $0.key != "accepted" && $0.key != "skipped" }.values.reduce(0, +)
        let numbers = [send.status?.targets, delivered, failed].map { number in number.map { "\($0)" } ?? "-" }
        let time = Date(timeIntervalSince1970: Double(send.dueAt.milliseconds) / 1000).formatted(.iso8601)
        return ["\(send.id)", time, send.sender, send.status?.state ?? "-"] + numbers + [send.audience]
    }
}

/// Advice for the user at the terminal about pushes that did not arrive.
enum OutcomeHint {
    /// A line for each kind of failure that has a known cause on this side of Apple; none where everything arrived.
    static func lines(for outcomes: [String: Int]) -> [String] {
        known.filter { outcomes[$0.outcome, default: 0] > 0 }.map { "\($0.outcome): \($0.advice)" }
    }

    private static let known: [(outcome: String, advice: String)] = [
        (
            "bad-token",
            "APNs does not know the device token there. An app installed by Xcode has tokens of the sandbox, one from TestFlight or "
                + "the App Store those of production, and the token has to belong to the app of apns-topic"
        ),
        ("gone", "the app was removed from the device, or its token has changed; the device registers again when the app starts"),
    ]
}
