import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel
import ServerOperations

struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a user. The password is asked for, or read from standard input.")

    @Argument(help: "1 to 64 of A-Z a-z 0-9 _ @ . -, unique without regard to case.")
    var name: UserName

    @Option(help: "user sends to themselves only; sender to any audience; admin manages users as well.")
    var role: UserRole = .user

    @OptionGroup var node: NodeArguments

    func run() async throws {
        try await node.beginning { settings in
            try await UserAdministration(settings: settings).add(name, password: Terminal.askNewPassword(), role: role)
        }
        print("added \(name)")
    }
}
