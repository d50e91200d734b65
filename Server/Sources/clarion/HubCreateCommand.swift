import ArgumentParser
import PushHub
import ServerOperations

struct HubCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a hub with a key for apps (Listen) and one for backends (all rights).")

    @Argument(
        help: """
            1 to 260 letters, digits, '.', '-' and '_', the first and the last a letter or digit, unique without regard to case, and \
            none of \(HubName.reserved.joined(separator: ", ")).
            """, transform: HubName.argument)
    var name: HubName

    @Option(help: "Free text, kept with the hub.")
    var metadata: String?

    @Option(help: "How many days a registration lives that is not renewed; else for ever.")
    var registrationDays: Int?

    @Flag(help: "Lets the key for apps claim tags such as username: that only a backend should set.")
    var allowProtectedTags = false

    @OptionGroup var node: NodeArguments

    func validate() throws {
        guard registrationDays.map({ (1...36_500).contains($0) }) ?? true else {
            throw ValidationError("--registration-days is a number from 1 to 36500")
        }
    }

    func run() async throws {
        let details = HubDetails(
            userMetadata: metadata, registrationLifetime: registrationDays.map { .seconds($0 * 86_400) },
            allowsProtectedTags: allowProtectedTags)
        try await node.beginning { try await HubAdministration(settings: $0).create(name, details: details) }
        print("created hub \(name); clarion hub connection-string \(name) --host … prints what clients need")
    }
}
