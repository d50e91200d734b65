import ArgumentParser
import CommandLineSupport
import PushHub

struct HubDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove a hub with its keys, devices, sends and telemetry. It cannot be undone.")

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let hubs = try node.hubs()
        if !yes {
            Terminal.note("Type the hub's name to remove \(name) with all its devices:")
            guard readLine().flatMap({ HubName($0) }) == name else { throw ValidationError("nothing was removed") }
        }
        try await hubs.delete(name)
        print("removed hub \(name)")
    }
}
