import ArgumentParser
import ClarionServer

struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users and their roles.")

    @OptionGroup var node: NodeArguments

    func run() async throws {
        for user in try await node.users().list() {
            print("\(user.name) \(user.role.rawValue)")
        }
    }
}
