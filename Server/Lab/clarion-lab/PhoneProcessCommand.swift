import ArgumentParser
import DeviceSimulation

/// The inside of a simulated phone: started by the phone, never by hand.
struct PhoneProcessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone-process", abstract: "Part of a simulated phone.", shouldDisplay: false,
        subcommands: [AppCommand.self, ExtensionCommand.self])

    struct AppCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "app", abstract: "The app.", shouldDisplay: false)

        func run() async throws { try await PhoneProcessProgram.runApp() }
    }

    struct ExtensionCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "extension", abstract: "The service extension.", shouldDisplay: false)

        @Option(help: .hidden)
        var mistake: ExtensionMistake?

        func run() async throws { try await PhoneProcessProgram.runExtension(mistake: mistake) }
    }
}

extension ExtensionMistake: ExpressibleByArgument {}
