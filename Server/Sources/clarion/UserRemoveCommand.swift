import ArgumentParser
import ClarionServer
import RichPushModel

struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user and their devices.")

    @Argument(help: "The user.")
    var name: UserName

    @OptionGroup var node: NodeArguments

    func run() async throws {
        try await node.users().remove(name)
        print("removed \(name)")
    }
}
