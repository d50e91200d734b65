import ArgumentParser
import CommandLineSupport
import RichPushModel

struct UserEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Remove a user with everything that is stored about them and everything they sent. Nothing brings it back.",
        discussion: "Bytes that were stored within the last hour leave the disk when the server sweeps next.")

    @Argument(help: "The user.")
    var name: UserName

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        if !yes {
            // Throws when there is no such user: nobody is asked about nothing.
            _ = try await users.devices(of: name)
            Terminal.note("Type the user's name to erase everything about \(name):")
            guard readLine().flatMap({ UserName($0) }) == name else { throw ValidationError("nothing was erased") }
        }
        try await users.erase(name)
        print("erased \(name)")
    }
}
