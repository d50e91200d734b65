import ArgumentParser
import ClarionServer

/// The program. One file per command; each reads its words and hands over to `ClarionServer`.
@main
struct Clarion: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clarion",
        abstract: "Self-hosted rich push for Apple devices.",
        discussion: "Begin with `clarion demo`: a server, a local APNs and a simulated iPhone in one process.",
        version: ClarionVersion.current,
        subcommands: [
            DemoCommand.self, ServeCommand.self, EmulatorCommand.self, PhoneCommand.self, SendNotificationCommand.self,
            KeysCommand.self,
            StatusCommand.self, SendsCommand.self, RecallCommand.self, HubCommand.self, UserCommand.self, ConfigCommand.self,
            DatabaseCommand.self,
            ContentCommand.self, DoctorCommand.self, VersionCommand.self, PhoneProcessCommand.self,
        ])

    /// What is wrong with the words of the command line is told with the command's usage. What a command finds out later is a
    /// sentence alone: usage, and that of the program as a whole, would not help with a file or an environment variable.
    static func main() async {
        if let complaint = CommandWords.complaint(about: Array(CommandLine.arguments.dropFirst()), root: Self.self) {
            Terminal.note("clarion: \(complaint)")
            exit(withError: ExitCode.validationFailure)
        }
        var command: any ParsableCommand
        do { command = try parseAsRoot() } catch { exit(withError: error) }
        do {
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch let error as ValidationError {
            Terminal.note("clarion: \(error.message)")
            exit(withError: ExitCode.validationFailure)
        } catch {
            exit(withError: error)
        }
    }
}
