import ArgumentParser
import ClarionServer

/// Which node's data a command works on.
struct NodeArguments: ParsableArguments {
    @Option(name: .customLong("config"), help: "The file of settings.")
    var path: String?

    @Option(help: "The node's data, if not where the settings say.")
    var dataDirectory: String?

    /// The users of that node.
    func users() throws -> UserAdministration { UserAdministration(settings: try settings()) }

    /// The settings of that node.
    func settings() throws -> Settings {
        let override = dataDirectory.map { ["--data-directory", $0] } ?? []
        let arguments = try SettingsArguments.parse(override + (path.map { ["--config", $0] } ?? []))
        return try arguments.load()
    }
}
