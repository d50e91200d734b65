import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel
import ServerOperations
import ServerSettings

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Let a person into the console in the browser.", subcommands: [ConsoleLinkCommand.self])
}

private struct ConsoleLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print an address that signs a user in to the console, once, within two minutes.",
        discussion: """
            What the user may do there follows from their role. `clarion user add` makes an administrator. The address is made of the settings, \
            so give the command those of the server.
            """)

    @Argument(help: "The user whom the address signs in.")
    var name: UserName

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    /// What `console link --json` prints.
    private struct Output: Encodable {
        var address: String
        var user: String
        var expiresAt: Timestamp
    }

    func run() async throws {
        let settings = try node.settings()
        guard !settings.console.isOff else { throw ValidationError("without-console is set, so this node has no console") }
        let link = try await UserAdministration(settings: settings).makeConsoleLink(for: name)
        let address = settings.consoleAddress + "#" + link.secret
        if json {
            return print(try JSONOutput.text(of: Output(address: address, user: link.user.text, expiresAt: link.expiresAt)))
        }
        // The secret alone on standard output, so that a script can take it; the rest is a note.
        Terminal.note("signs \(link.user) in once, within two minutes; shown once")
        print(address)
    }
}
