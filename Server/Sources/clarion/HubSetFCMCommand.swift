import ArgumentParser
import CommandLineSupport
import PushHub
import ServerOperations
import ServiceErrors

struct HubSetFCMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-fcm",
        abstract: "Set a hub's own service account for Firebase, which sends to Android. It is stored sealed and never shown.")

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @Option(help: "Where the private key of the service account lies: the file that the Firebase console gives.")
    var keyPath: String?

    @Flag(help: "Remove the hub's own account, so that the node's holds again.")
    var remove = false

    @OptionGroup var node: NodeArguments

    func validate() throws {
        guard remove != (keyPath != nil) else { throw ValidationError("give --key-path or --remove") }
    }

    func run() async throws {
        let hubs = try node.hubs()
        try await hubs.setCredential(remove ? .remove(.fcmv1) : .set(.fcm(credential(for: hubs))), of: name)
        print(remove ? "hub \(name) uses the node's account for Android" : "hub \(name) has an account for Android of its own")
    }

    private func credential(for hubs: HubAdministration) throws -> HubFCMCredential {
        let path = keyPath ?? ""
        let file = try ContentInput.read(path, limit: 100_000)
        do throws(ServiceError) { return try hubs.credential(inKeyFile: Array(file)) } catch {
            throw InputFault("\(path): \(error.detail ?? "it is no key of a service account")", .badInput)
        }
    }
}
