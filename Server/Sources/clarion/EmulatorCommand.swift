import ArgumentParser
import ClarionServer

struct EmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator", abstract: "Run the local APNs alone, for anyone's client.",
        discussion: "It writes its certificate authority and a signing key into the folder, and prints how to use them.",
        subcommands: [EmulatorRunCommand.self, EmulatorCertificateCommand.self], defaultSubcommand: EmulatorRunCommand.self)
}
