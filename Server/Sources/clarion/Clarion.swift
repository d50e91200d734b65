import ArgumentParser
import CommandLineSupport
import ServerComposition
import ServerSettings

/// The program. Each command parses its arguments and calls the code that does the work.
@main
struct Clarion: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clarion",
        abstract: "Self-hosted rich push for Apple devices, browsers and Android.",
        discussion: "Begin with `clarion demo`: a server, a local APNs and a simulated iPhone in one process.",
        version: ClarionVersion.current,
        subcommands: [
            DemoHandOver.self, ServeCommand.self, EmulatorHandOver.self, PhoneHandOver.self, SendNotificationCommand.self,
            KeysCommand.self,
            StatusCommand.self, ExplainCommand.self, SendsCommand.self, SchedulesCommand.self, TemplatesCommand.self,
            ActivityCommand.self, ChannelCommand.self, ReloadCommand.self,
            RecallCommand.self,
            HubCommand.self, UserCommand.self, ConsoleCommand.self, KeyCommand.self,
            TokenCommand.self, WebPushKeyCommand.self, AuditCommand.self, ConfigCommand.self,
            DatabaseCommand.self,
            ContentCommand.self, DoctorCommand.self, InitCommand.self, VersionCommand.self,
        ])

    static var _errorPrefix: String { CommandLineProgram.prefix }

    static func main() async {
        if let command = LabProgram.command(in: Array(CommandLine.arguments.dropFirst())) {
            let problem = LabProgram(beside: OwnExecutable.path).run(command, arguments: CommandLine.arguments)
            Terminal.note("clarion: \(problem)")
            exit(withError: ExitCode.missingProgram)
        }
        await CommandLineProgram.run(Self.self)
    }
}

private struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a node.", discussion: SettingsArguments.discussion)

    @OptionGroup var arguments: SettingsArguments

    func run() async throws {
        let settings = try arguments.load()
        try await ServiceStart.coded { try await NodeService.run(settings) { Terminal.say($0) } }
    }
}

// The commands of `clarion-lab` as `clarion --help` and the completion of a shell show them. They are never parsed here: `Clarion`
// hands them over before.

private struct DemoHandOver: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LabProgram.Command.demo.rawValue,
        abstract: "Run everything in one process: server, local APNs and a simulated iPhone (needs \(LabProgram.name)).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

private struct EmulatorHandOver: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LabProgram.Command.emulator.rawValue,
        abstract: "Run the local APNs alone, for anyone's client (needs \(LabProgram.name)).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

private struct PhoneHandOver: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LabProgram.Command.phone.rawValue,
        abstract: "A simulated phone in this terminal, for any Clarion server and local APNs (needs \(LabProgram.name)).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

private struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the version.")

    func run() { print(ClarionVersion.current) }
}
