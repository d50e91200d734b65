import ArgumentParser
import CommandLineSupport
import RichPushModel

struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user and their devices.")

    @Argument(help: "The user.")
    var name: UserName

    @Flag(help: "Do not ask. Needed where standard input is no terminal.")
    var yes = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        if !yes {
            // Throws when there is no such user, so that no question is asked about a typing error.
            let count = try await users.devices(of: name).devices.count
            guard Terminal.isInteractive else {
                throw ValidationError("standard input is no terminal to ask on; add --yes to remove \(name)")
            }
            guard Terminal.confirm("Remove \(name) and \(count) device\(count == 1 ? "" : "s")?") else {
                throw ValidationError("nothing was removed")
            }
        }
        try await users.remove(name)
        print("removed \(name)")
    }
}
