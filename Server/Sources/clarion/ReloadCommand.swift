import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make widgets or controls read their data again.",
        discussion: "Shows nothing. Requests for one audience within two seconds become one push.")

    enum What: String, CaseIterable, ExpressibleByArgument { case widgets, controls }

    @OptionGroup var server: ServerArguments

    @Argument(help: "widgets (iOS 26) or controls (iOS 18).")
    var what: What

    @Option(help: ArgumentHelp("A tag expression. Default: your own devices.", valueName: "expression"))
    var audience: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let request = ReloadRequest(what: what.rawValue, audience: audience)
        try await server.client().use { client in
            let answer = try await client.answer(
                to: client.message(.POST, APIRoute.reloads, json: try JSONEncoder().encode(request)), as: ReloadAnswer.self)
            print(json ? try JSONOutput.text(of: answer) : "the \(what.rawValue) reload at \(answer.dueAt.inUTC)")
        }
    }
}
