import ArgumentParser
import CommandLineSupport
import ServerSettings

struct ConfigCommand: ParsableCommand {
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

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Read the settings without starting, and list every problem.")

        @OptionGroup var arguments: SettingsArguments

        func run() throws {
            _ = try arguments.load()
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
