import AppBackend
import ArgumentParser
import AuditTrail
import CommandLineSupport
import RichPushModel
import ServerOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Read and verify the record of sign-ins, administrative acts and sends.",
        subcommands: [AuditListCommand.self, AuditVerifyCommand.self, AuditKeyCommand.self],
        defaultSubcommand: AuditListCommand.self)
}

private struct AuditListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List entries, newest first.")

    @Option(help: ArgumentHelp("Entries of this action only, for example user.created.", valueName: "action"))
    var action: AuditAction?

    @Option(help: ArgumentHelp("Entries of acts of this user or key only.", valueName: "name"))
    var actor: String?

    @Option(help: ArgumentHelp("Entries about this user or key only.", valueName: "name"))
    var subject: String?

    @Option(help: "How many entries at most.")
    var limit = 50

    @Flag(help: "Print JSON, one entry a line.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        guard limit > 0 else { throw ValidationError("--limit: at least 1") }
        var filter = AuditFilter()
        (filter.action, filter.actor, filter.subject) = (action, actor, subject)
        let entries = try await node.users().audit(filter, limit: limit)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            for entry in entries { print(String(decoding: try encoder.encode(entry), as: UTF8.self)) }
            return
        }
        print(TextTable(columns: ["NUMBER", "TIME", "ACTION", "BY", "ABOUT", "OBJECT", "DETAILS"], rows: entries.map(Self.row)))
    }

    private static func row(_ entry: AuditAnswer) -> [String] {
        let time = Date(timeIntervalSince1970: Double(entry.at.milliseconds) / 1000).formatted(.iso8601)
        let actor = [entry.actorKind, entry.actor ?? "(erased)"].filter { !$0.isEmpty }.joined(separator: " ")
        return [
            "\(entry.number)", time, entry.action, actor, entry.subject ?? "-", entry.object ?? "-", entry.details ?? "-",
        ]
    }
}

private struct AuditVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read the whole audit and find entries that were changed, removed or inserted.",
        discussion: """
            Ends with 1 when something is wrong. A checkpoint that was kept elsewhere also shows an audit that was rewritten as a whole.
            """)

    @Option(
        help: ArgumentHelp(
            "A file with the note of a checkpoint that was kept elsewhere. Can be given several times.", valueName: "file"))
    var checkpoint: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let foreign = try checkpoint.map { path in
            let text = String(decoding: try ContentInput.read(path), as: UTF8.self)
            guard let checkpoint = AuditCheckpoint(note: text) else {
                throw InputFault("--checkpoint: \(path) is not the note of a checkpoint", .badInput)
            }
            return checkpoint
        }
        let report = try await node.users().verifyAudit(foreign: foreign)
        if json {
            print(try JSONOutput.text(of: report))
        } else {
            print("\(report.entries) entries up to \(report.size), \(report.checkpoints) checkpoints, head \(report.hash)")
            if report.prunedTo > 0 { print("entries up to \(report.prunedTo) were pruned") }
            if report.erased > 0 { print("\(report.erased) entries have an erased text") }
            if report.prunedCheckpoints > 0 {
                print("\(report.prunedCheckpoints) checkpoints are of pruned entries; only their signatures were verified")
            }
            print(report.problems.isEmpty ? "nothing is wrong" : report.problems.joined(separator: "\n"))
        }
        guard report.problems.isEmpty else { throw ExitCode(1) }
    }
}

private struct AuditKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Print the public key of the audit and its newest checkpoint, to keep elsewhere.")

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let found = try await node.users().auditKey()
        Terminal.note("public key \(found.key)")
        guard let checkpoint = found.checkpoint else { return Terminal.note("there is no checkpoint yet") }
        print(checkpoint.note, terminator: "")
    }
}

extension AuditAction: ExpressibleByArgument {}
