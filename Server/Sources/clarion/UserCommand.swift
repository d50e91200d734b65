import ArgumentParser
import ClarionServer
import RichPushModel

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Add, list and remove the users of a node, on its database.",
        subcommands: [UserAddCommand.self, UserListCommand.self, UserPasswordCommand.self, UserRemoveCommand.self])

    /// A role that may be given on the command line.
    enum Role: String, CaseIterable, ExpressibleByArgument {
        /// May send to any audience.
        case sender
        /// May manage users.
        case admin
    }
}

extension UserName: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
