import ArgumentParser
import ClarionServer
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

    @Option(
        help: "How clients reach the server: a name or address, and the port unless it is 443, such as push.example.com:8443.")
    var host: String

    @Flag(help: "For a server without TLS, at a loopback address only.")
    var plainHTTP = false

    @Option(help: "How many hours the link is valid, 1 to 168.")
    var hours = 24

    @OptionGroup var node: NodeArguments

    func validate() throws {
        guard (1...168).contains(hours) else { throw ValidationError("--hours is 1 to 168") }
    }

    func run() async throws {
        guard SharedAccessEndpoint("\(plainHTTP ? "http" : "sb")://\(host)/") != nil else {
            throw ValidationError("--host is a name or address with or without a port; --plain-http is for this machine only")
        }
        let base = "\(plainHTTP ? "http" : "https")://\(host)"
        print(try await node.hubs().containerLink(of: name, at: base, lifetime: .seconds(hours * 3600)))
    }
}
