import ArgumentParser
import LabServices

struct EmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator", abstract: "Run the local APNs alone, for anyone's client.",
        discussion: """
            It writes its certificate authority and a signing key into the folder, and prints how to use them. Its ports and \
            options: clarion emulator run --help; the word run may be left out.
            """,
        subcommands: [EmulatorRunCommand.self, EmulatorCertificateCommand.self], defaultSubcommand: EmulatorRunCommand.self)
}
