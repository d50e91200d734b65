import ArgumentParser
import CommandLineSupport
import PushHub

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    /// What is taken of the file. Access tokens come from Google's endpoint.
    private struct KeyFile: Decodable {
        var project_id: String
        var client_email: String
        var private_key: String
        var private_key_id: String?
        var type: String?

        static let expectedType = "service_account"
    }

    func validate() throws {
        guard remove != (keyPath != nil) else { throw ValidationError("give --key-path or --remove") }
    }

    func run() async throws {
        let hubs = try node.hubs()
        try await hubs.setCredential(remove ? .remove(.fcmv1) : .set(.fcm(credential())), of: name)
        print(remove ? "hub \(name) uses the node's account for Android" : "hub \(name) has an account for Android of its own")
    }

    private func credential() throws -> HubFCMCredential {
        let path = keyPath ?? ""
        guard let data = FileManager.default.contents(atPath: path), data.count <= 100_000 else {
            throw ValidationError("\(path) cannot be read")
        }
        guard let file = try? JSONDecoder().decode(KeyFile.self, from: data) else {
            throw ValidationError("\(path) is no key of a service account: it needs project_id, client_email and private_key")
        }
        guard file.type ?? KeyFile.expectedType == KeyFile.expectedType else {
            throw ValidationError("\(path) is no key of a service account: its type is not \(KeyFile.expectedType)")
        }
        return HubFCMCredential(
            projectID: file.project_id, clientEmail: file.client_email, privateKey: file.private_key, keyID: file.private_key_id)
    }
}
