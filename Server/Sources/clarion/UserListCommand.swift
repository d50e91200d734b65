import ArgumentParser

struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users and their roles.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    private struct Entry: Encodable {
        var name: String
        var role: String
    }

    func run() async throws {
        let users = try await node.users().list()
        if json { return print(try JSONOutput.text(of: users.map { Entry(name: $0.name.text, role: $0.role.rawValue) })) }
        for user in users {
            print("\(user.name) \(user.role.rawValue)")
        }
    }
}
