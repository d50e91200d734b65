import ArgumentParser
import ServerSettings

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the version.")

    func run() { print(ClarionVersion.current) }
}
