import ArgumentParser
import CommandLineSupport
import ServerComposition

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a node.", discussion: SettingsArguments.discussion)

    @OptionGroup var arguments: SettingsArguments

    func run() async throws { try await NodeService.run(arguments.load()) { Terminal.say($0) } }
}
