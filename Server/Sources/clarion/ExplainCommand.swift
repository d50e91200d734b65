import AppBackend
import ArgumentParser
import AsyncHTTPClient
import CommandLineSupport
import RichPushModel

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Say why a user got a notification, or did not.",
        discussion: """
            For an admin, an auditor, or a key with the scope status. The first line decides; one line for each device follows. It ends with 1 \
            when there is no such user or send.
            """)

    @Argument(help: "The id of the send.")
    var send: RichID

    @OptionGroup var question: ExplanationArguments

    func run() async throws { try await question.answer("send", "\(send)") }
}

/// Whom an explanation is about, and how it is printed.
struct ExplanationArguments: ParsableArguments {
    @OptionGroup var server: ServerArguments

    @Argument(help: "The name of the user.")
    var receiver: String

    @Flag(help: "Print JSON.")
    var json = false

    /// Asks about something with this name in the API, and prints the answer.
    func answer(_ kind: String, _ id: String) async throws {
        try await server.client().use { client in
            let query = BackendHTTPClient.query(["user": receiver, kind: id])
            let found = try await client.answer(
                to: HTTPClientRequest(url: client.address + APIRoute.prefix + "/explain" + query), as: Explanation.self)
            try show(found)
            if found.isOfUnknown { throw ExitCode.failure }
        }
    }

    private func show(_ found: Explanation) throws {
        if json { return print(try JSONOutput.text(of: found)) }
        Self.show(found.finding, "")
        if let group = found.group { print("The user is in group \(group) of the A/B test.") }
        for device in found.devices where found.devices.count > 1 || device.language != nil {
            Self.show(device.finding, device.device + (device.language.map { ", in \($0)" } ?? "") + ": ")
        }
    }

    private static func show(_ finding: Explanation.Finding, _ prefix: String) {
        print(prefix + finding.sentence + (finding.at.map { " (\($0.inUTC))" } ?? ""))
        if let next = finding.nextStep { print("→ \(next)") }
    }
}
