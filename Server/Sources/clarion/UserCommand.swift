import AppBackend
import ArgumentParser
import RichPushModel

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Add, list and remove the users of a node, on its database.",
        subcommands: [
            UserAddCommand.self, UserListCommand.self, UserDevicesCommand.self, UserPasswordCommand.self, UserRemoveCommand.self,
            UserExportCommand.self, UserEraseCommand.self,
        ])
}

extension UserRole: ExpressibleByArgument {}
