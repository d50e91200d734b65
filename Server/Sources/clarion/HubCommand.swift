import ArgumentParser
import PushHub
import ServerOperations
import ServiceErrors

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub", abstract: "Create, list and remove the notification hubs of a node, on its database.",
        subcommands: [
            HubCreateCommand.self, HubListCommand.self, HubShowCommand.self, HubRotateKeyCommand.self,
            HubConnectionStringCommand.self, HubContainerCommand.self, HubSetAPNsCommand.self, HubDeleteCommand.self,
        ])
}

extension HubName {
    /// Reads an argument; the error names the rule that it breaks.
    static func argument(_ text: String) throws -> HubName {
        do throws(ServiceError) {
            return try HubRegistry.name(text)
        } catch { throw ValidationError(error.detail ?? "\(error)") }
    }
}

extension HubRegistry.KeyPlace: ExpressibleByArgument {}

extension HubAPNsCredential.Environment: ExpressibleByArgument {}

extension NodeArguments {
    /// The hubs of that node.
    func hubs() throws -> HubAdministration { HubAdministration(settings: try settings()) }
}
