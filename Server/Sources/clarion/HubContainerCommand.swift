import ArgumentParser
import PushHub
import SharedAccess

struct HubContainerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract:
            "Print a signed link to a new container for the files of import and export jobs. Who has it can read and write there."
    )

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @OptionGroup var address: HubAddress

    @Option(help: "How many hours the link is valid, 1 to 168.")
    var hours = 24

    @OptionGroup var node: NodeArguments

    func validate() throws {
        guard (1...168).contains(hours) else { throw ValidationError("--hours is 1 to 168") }
    }

    func run() async throws {
        let link = try await node.hubs().containerLink(of: name, at: address.endpoint.baseURL, lifetime: .seconds(hours * 3600))
        print(link)
    }
}
