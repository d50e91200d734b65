import ArgumentParser
import ClarionServer
import PushHub

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub", abstract: "Create, list and remove the notification hubs of a node, on its database.",
        subcommands: [
            HubCreateCommand.self, HubListCommand.self, HubShowCommand.self, HubRotateKeyCommand.self,
            HubConnectionStringCommand.self, HubContainerCommand.self, HubSetAPNsCommand.self, HubDeleteCommand.self,
        ])
}

extension HubName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension HubRegistry.KeyPlace: ExpressibleByArgument {}

extension HubAPNsCredential.Environment: ExpressibleByArgument {}

extension NodeArguments {
    /// The hubs of that node.
    func hubs() throws -> HubAdministration { HubAdministration(settings: try settings()) }
}
