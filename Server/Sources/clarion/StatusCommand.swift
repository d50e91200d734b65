import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show where a send stands: its state, the outcomes of its pushes and its receipts.",
        discussion: """
            Shows what you sent; an admin sees every send, and page by page the devices that got no push. With --wait it ends when every \
            device has an outcome.
            """)

    @OptionGroup var server: ServerArguments

    @Argument(help: "The id that `clarion send` printed.")
    var id: RichID

    @Option(help: ArgumentHelp("Of the devices that got no push, show those with this outcome only.", valueName: "word"))
    var outcome: String?

    @Option(help: "How many devices that got no push to show, 1 to 100.")
    var limit = 20

    @Option(help: ArgumentHelp("Go on behind the devices of an earlier page, which ended with this.", valueName: "cursor"))
    var after: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Wait until every device has an outcome, at most a minute.")
    var wait = false

    func validate() throws {
        guard (1...100).contains(limit) else { throw ValidationError("--limit is a number from 1 to 100") }
    }

    func run() async throws {
        try await server.client().use { client in
            if wait { _ = try await client.waitUntilFinal(id, atMost: .seconds(60)) }
            let details = try await client.details(id, outcome: outcome, after: after, limit: limit)
            print(json ? try JSONOutput.text(of: StatusOutput(details)) : Self.text(details))
            if let next = details.next, !json { Terminal.note("more devices got no push; see them with --after \(next)") }
            if wait, !BackendHTTPClient.finalStates.contains(details.status.state) { throw ExitCode.tryAgain }
        }
    }

    private static func text(_ details: SendDetails) -> String {
        let rows = { (kind: String, counts: [String: Int]) in
            counts.sorted { $0.key < $1.key }.map { [kind, $0.key, "\($0.value)"] }
        }
        let status = details.status
        let counts = TextTable(
            columns: ["STATE", status.state, ""],
            rows: (status.waiting.map { [["waits for", $0.cause, $0.words ?? $0.reason]] } ?? [])
                + rows("outcome", status.outcomes) + rows("receipt", status.receipts ?? [:]))
        guard let failures = details.failures, !failures.isEmpty else { return counts.description }
        let devices = TextTable(
            columns: ["DEVICE", "OUTCOME", "REASON"],
            rows: failures.map { [$0.device ?? "removed", $0.outcome, $0.reason ?? "-"] })
        return "\(counts)\n\n\(devices)"
    }
}

/// What `status --json` prints: a status with its page of failures, and how to go on.
private struct StatusOutput: Encodable {
    private enum CodingKeys: String, CodingKey { case next }

    private let status: SendStatus
    private let next: String?

    init(_ details: SendDetails) {
        var status = details.status
        status.failures = details.failures
        (self.status, next) = (status, details.next)
    }

    func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(next, forKey: .next)
    }
}

struct RecallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recall", abstract: "Take back a notification: its content is removed, and it leaves every inbox.",
        discussion: """
            Takes back what you sent; an admin can take back every notification. Pushes that have not left yet are cancelled. A phone \
            that shows the notification already goes on showing its texts.
            """)

    /// What `recall --json` prints.
    private struct Output: Encodable {
        var id: String
        var recalled = true
    }

    @OptionGroup var server: ServerArguments

    @Argument(help: "The id that `clarion send` printed.")
    var id: RichID

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try await server.client().use { client in
            try await client.recall(id)
            print(json ? try JSONOutput.text(of: Output(id: "\(id)")) : "recalled \(id)")
        }
    }
}

extension RichID: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
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
