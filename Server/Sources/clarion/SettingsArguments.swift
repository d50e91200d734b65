import ArgumentParser
import CommandLineSupport
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
            arguments: settings, environment: ProcessInfo.processInfo.environment, path: path, surroundings: .server
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
