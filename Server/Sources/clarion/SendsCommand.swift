import ArgumentParser
import CommandLineSupport
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sends", abstract: "List recent sends, newest first.",
        discussion: """
            Lists what you sent; an admin sees every send. A moment is written as 2026-03-01, as 2026-03-01T10:00:00+01:00 (UTC without a \
            zone), or in milliseconds since 1970. DUE is when it was to leave. DELIVERED counts the devices whose push APNs took, \
            FAILED those that got none; where the server sends through a hub elsewhere they are unknown here. `clarion status` says more of \
            one send.
            """)

    /// The most sends of one call, so that a slip does not ask for thousands.
    private static let limits = 1...1_000

    /// The most that the server gives in one page.
    private static let pageSize = 50

    @OptionGroup var server: ServerArguments

    @Option(help: "How many sends to list, 1 to 1000.")
    var limit = 20

    @Option(help: "List the sends before the one with this id.")
    var before: RichID?

    @Option(help: ArgumentHelp("List the sends of this user or service account only.", valueName: "name"))
    var sender: String?

    @Option(help: ArgumentHelp("List the sends that were due at this moment or later.", valueName: "moment"))
    var since: Timestamp?

    @Option(help: ArgumentHelp("List the sends that were due before this moment.", valueName: "moment"))
    var until: Timestamp?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard Self.limits.contains(limit) else { throw ValidationError("--limit is a number from 1 to 1000") }
        guard before == nil || since == nil && until == nil else {
            throw ValidationError("--before is for a list without --since and --until; use --until to go on towards older sends")
        }
    }

    func run() async throws {
        try await server.client().use { client in
            let sends = try await everyPage(
                from: before.map { "\($0)" }, limit: limit, pageSize: Self.pageSize
            ) { cursor, count in
                let page = try await client.sends(sender: sender, since: since, until: until, before: cursor, limit: count)
                return (page.sends, page.next)
            }
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
        let failed = outcomes?.filter { !["accepted", "skipped", "capped"].contains($0.key) }.values.reduce(0, +)
        let numbers = [send.status?.targets, delivered, failed].map { number in number.map { "\($0)" } ?? "-" }
        return ["\(send.id)", send.dueAt.inUTC, send.sender, send.status?.state ?? "-"] + numbers + [send.audience]
    }
}

extension Timestamp {
    /// The moment as lists show it, such as `2026-03-01T09:00:00Z`.
    var inUTC: String { Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601) }
}

extension Timestamp: @retroactive ExpressibleByArgument {
    /// Reads a date, a date with a time, or milliseconds since 1970.
    public init?(argument: String) {
        if argument.allSatisfy({ $0.isASCII && $0.isNumber }), let milliseconds = Int64(argument) {
            self.init(milliseconds: milliseconds)
            return
        }
        guard let time = WireTime(argument) ?? WireTime(argument + "T00:00") else { return nil }
        self = time.moment
    }
}
