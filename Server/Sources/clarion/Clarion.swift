import ArgumentParser
import CommandLineSupport
import ServerSettings

/// The program. One file per command; each reads its words and calls what does the work.
@main
struct Clarion: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clarion",
        abstract: "Self-hosted rich push for Apple devices.",
        discussion: "Begin with `clarion demo`: a server, a local APNs and a simulated iPhone in one process.",
        version: ClarionVersion.current,
        subcommands: [
            DemoCommand.self, ServeCommand.self, EmulatorCommand.self, PhoneCommand.self, SendCommand.self, KeysCommand.self,
            StatusCommand.self, SendsCommand.self, RecallCommand.self, HubCommand.self, UserCommand.self, ConfigCommand.self,
            DatabaseCommand.self,
            ContentCommand.self, DoctorCommand.self, VersionCommand.self,
        ])

    static func main() async {
        if let command = LabProgram.command(in: Array(CommandLine.arguments.dropFirst())) {
            let problem = LabProgram(beside: OwnExecutable.path).run(command, arguments: CommandLine.arguments)
            Terminal.note("clarion: \(problem)")
            exit(withError: ExitCode.missingProgram)
        }
        await CommandLineProgram.run(Self.self)
    }
}
