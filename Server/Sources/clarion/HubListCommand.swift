import ArgumentParser

struct HubListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the hubs.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let hubs = try await node.hubs().list()
        if json { return print(try JSONOutput.text(of: hubs.map(HubDocument.init))) }
        let rows = hubs.map { hub in
            [
                hub.name.text, "\(hub.id.number)", "\(hub.version)", hub.sealedAPNs == nil ? "node's" : "own",
                hub.details.userMetadata ?? "",
            ]
        }
        print(TextTable(columns: ["NAME", "ID", "VERSION", "APNS", "METADATA"], rows: rows))
    }
}
