import ArgumentParser
import PushHub
import SharedAccess

struct HubShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a hub and its access rules. Keys and credentials are not shown.")

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let hub = try await node.hubs().show(name)
        if json { return print(try JSONOutput.text(of: HubDocument(hub))) }
        let lifetime = hub.record.details.registrationLifetime.map { "\($0.components.seconds / 86_400) days" } ?? "for ever"
        print(
            TextTable(
                columns: ["HUB", hub.record.name.text],
                rows: [
                    ["id", "\(hub.record.id.number)"], ["version", "\(hub.record.version)"], ["devices", "\(hub.deviceCount)"],
                    ["registrations live", lifetime],
                    ["protected tags", hub.record.details.allowsProtectedTags ? "open to apps" : "for backends only"],
                    ["apns", hub.apns.map { "\($0)" } ?? "that of the node"],
                    ["metadata", hub.record.details.userMetadata ?? ""],
                ]))
        print("")
        print(TextTable(columns: ["RULE", "RIGHTS"], rows: hub.rules.map { [$0.name, $0.rights.words] }))
    }
}
