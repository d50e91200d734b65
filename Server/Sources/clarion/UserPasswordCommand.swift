import ArgumentParser
import CommandLineSupport
import RichPushModel

struct UserPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Set a user's password, which signs their devices out.")

    @Argument(help: "The user.")
    var name: UserName

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        try await users.setPassword(Terminal.askNewPassword(), of: name)
        print("changed the password of \(name)")
    }
}
