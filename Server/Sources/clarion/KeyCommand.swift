import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel
import ServerOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Create, list, roll and revoke the keys of services, on the node's database.",
        discussion: """
            A service calls the API with `Authorization: Bearer KEY`. Scopes: send (any audience), send:PREFIX (audiences of tags that \
            begin with PREFIX), status, users, sign-in, devices, hubs, audit, admin.
            """,
        subcommands: [KeyCreateCommand.self, KeyListCommand.self, KeyRollCommand.self, KeyRevokeCommand.self])
}

private struct KeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a key. It is printed once and stored as a hash only.")

    @Argument(help: "1 to 40 of A-Z a-z 0-9 _ . -, unique among the keys that hold.")
    var name: String

    @Option(parsing: .upToNextOption, help: "What the key may do; one scope or several.")
    var scope: [String]

    @Option(help: "For how many days it holds, at most 1826.")
    var days = 365

    @Option(parsing: .upToNextOption, help: "The addresses or networks that may use it.")
    var network: [String] = []

    @Option(help: "How many requests a minute it may make on each node.")
    var requestsPerMinute: Int?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        guard (1...1826).contains(days) else { throw ValidationError("--days: from 1 to 1826") }
        let request = ServiceKeyRequest(
            name: name, scopes: scope, expiresAt: SystemClock().now + .seconds(days * 86_400), networks: network,
            requestsPerMinute: requestsPerMinute)
        try KeyOutput.show(try await node.users().createKey(request), json: json)
    }
}

private struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys, with their scopes and when they were used last.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let keys = try await node.users().keys()
        if json { return print(try JSONOutput.text(of: keys)) }
        let columns = ["ID", "NAME", "KEY", "SCOPES", "EXPIRES", "LAST USED", "STATE"]
        let now = SystemClock().now
        print(
            TextTable(
                columns: columns,
                rows: keys.map { key in
                    let state = key.revokedAt != nil ? "revoked" : key.expiresAt <= now ? "expired" : "holds"
                    return [
                        "\(key.id)", key.name, key.hint, key.scopes.joined(separator: " "), Self.text(key.expiresAt),
                        key.lastUsedAt.map(Self.text) ?? "never", state,
                    ]
                }))
    }
}

extension KeyListCommand {
    fileprivate static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}

private struct KeyRollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roll", abstract: "Make a new secret for a key; the old one holds a while longer.")

    @Argument(help: "The key's id, as `clarion key list` shows it.")
    var id: Int64

    @Option(help: "For how many hours the old secret still holds, at most 168.")
    var overlapHours = 24

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func validate() throws {
        guard (0...168).contains(overlapHours) else { throw ValidationError("--overlap-hours: from 0 to 168") }
    }

    func run() async throws {
        try KeyOutput.show(try await node.users().rollKey(id, overlap: .seconds(overlapHours * 3600)), json: json)
    }
}

private struct KeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "End a key. Running nodes refuse it within five seconds.")

    /// What `key revoke --json` prints.
    private struct Output: Encodable {
        var id: Int64
        var revoked = true
    }

    @Argument(help: "The key's id, as `clarion key list` shows it.")
    var id: Int64

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        try await node.users().revokeKey(id)
        print(json ? try JSONOutput.text(of: Output(id: id)) : "revoked key \(id)")
    }
}

private enum KeyOutput {
    /// The secret alone on standard output, so that a script can take it; the rest is a note.
    static func show(_ answer: ServiceKeyAnswer, json: Bool) throws {
        if json { return print(try JSONOutput.text(of: answer)) }
        Terminal.note("key \(answer.id) of \(answer.name): \(answer.scopes.joined(separator: " ")); shown once, keep it now")
        print(answer.key ?? "")
    }
}
