import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sends", abstract: "List recent sends, newest first.",
        discussion: """
            Lists what you sent; an admin sees every send. DELIVERED counts the devices whose push APNs took, FAILED those that got none. \
            `clarion status` says more of one send.
            """)

    /// The most sends of one call, so that a slip does not ask the hub about thousands.
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
            columns: ["ID", "TIME", "SENDER", "STATE", "DEVICES", "DELIVERED", "FAILED", "AUDIENCE"], rows: sends.map(row))
    }

    private static func row(_ send: SendListEntry) -> [String] {
        let outcomes = send.status.outcomes
        let delivered = outcomes["accepted", default: 0]
        let failed = outcomes.filter { $0.key != "accepted" && $0.key != "skipped" }.values.reduce(0, +)
        let time = Date(timeIntervalSince1970: Double(send.sentAt.milliseconds) / 1000).formatted(.iso8601)
        return [
            "\(send.id)", time, send.sender, send.status.state, send.status.targets.map { "\($0)" } ?? "-", "\(delivered)",
            "\(failed)", send.audience,
        ]
    }
}
