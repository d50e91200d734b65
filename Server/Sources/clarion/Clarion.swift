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
            DemoCommand.self, ServeCommand.self, EmulatorCommand.self, PhoneCommand.self, SendCommand.self, KeysCommand.self,
            HubCommand.self,
            UserCommand.self,
            ConfigCommand.self,
            DatabaseCommand.self, ContentCommand.self, DoctorCommand.self, VersionCommand.self, PhoneProcessCommand.self,
        ])
}
