import ArgumentParser
import CommandLineSupport
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the settings.", subcommands: [Show.self, Check.self, Reference.self])

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every setting, what holds and where it came from. Secrets are not shown.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var arguments: SettingsArguments

        func run() throws {
            let result = arguments.read()
            if json { print(try JSONOutput.text(of: result.report)) } else { print(result.report) }
            guard result.problems.isEmpty else {
                Terminal.note("\nclarion: \(SettingsError(problems: result.problems))")
                throw ExitCode.badSettings
            }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Read the settings without starting, and list every problem.")

        @OptionGroup var arguments: SettingsArguments

        func run() async throws {
            let settings = try arguments.load()
            do {
                _ = try await settings.issuers?.issuers()
                _ = try settings.consoleProvider?.provider()
            } catch {
                Terminal.note("clarion: \(error)")
                throw ExitCode.badSettings
            }
            print("the settings are fit for use")
        }
    }

    struct Reference: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the explanation of every setting.")

        @Flag(help: "Print it as a file of settings to begin with.")
        var yaml = false

        func run() {
            print(yaml ? SettingsReference.exampleFile : SettingsReference.page, terminator: "")
        }
    }
}

/// The flags of every command that works on a node's settings. The settings themselves are read by `SettingsLoader`, which knows
/// their names; here they pass through as they stand.
struct SettingsArguments: ParsableArguments {
    @Option(name: .customLong("config"), help: "The file of settings.")
    var path: String?

    @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Settings, as --name value.", valueName: "settings"))
    var settings: [String] = []

    static let discussion = "Settings, each explained in Documentation/Settings.md:\n" + SettingsReference.helpList

    /// Reads all sources, without an end at the first problem.
    func read() -> SettingsLoader.Result {
        SettingsLoader(
            arguments: settings, environment: ProcessInfo.processInfo.environment, path: path, system: .server
        ).read()
    }

    /// The settings; or every problem on standard error, and the exit code that means it.
    func load() throws -> Settings {
        let result = read()
        if let settings = result.settings { return settings }
        Terminal.note("clarion: \(SettingsError(problems: result.problems))")
        throw ExitCode.badSettings
    }
}
