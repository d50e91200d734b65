import ArgumentParser
import ClarionServer
import RichPushModel

struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a user. The password is asked for, or read from standard input.")

    @Argument(help: "1 to 64 of A-Z a-z 0-9 _ @ . -, unique without regard to case.")
    var name: UserName

    @Option(help: "sender may send to any audience, admin may manage users. May be repeated.")
    var role: [UserCommand.Role] = []

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        try await users.add(name, password: Terminal.askNewPassword(), roles: role.map(\.rawValue))
        print("added \(name)")
    }
}
