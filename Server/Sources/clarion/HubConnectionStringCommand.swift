import ArgumentParser
import ClarionServer
import PushHub
import SharedAccess

struct HubConnectionStringCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection-string",
        abstract: "Print the connection string that every hub client reads. It holds a key: keep it as you keep passwords.")

    @OptionGroup var target: HubKeyArguments

    @Option(
        help: "How clients reach the server: a name or address, and the port unless it is 443, such as push.example.com:8443.")
    var host: String

    @Flag(help: "For clients on this machine that can speak plain HTTP, at a loopback address only.")
    var plainHTTP = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        guard let endpoint = SharedAccessEndpoint("\(plainHTTP ? "http" : "sb")://\(host)/") else {
            throw ValidationError("--host is a name or address with or without a port; --plain-http is for this machine only")
        }
        let rule = try await node.hubs().rule(named: target.ruleName, of: target.name)
        let key = target.key == .primary ? rule.primary : rule.secondary
        print(try ConnectionString(endpoint: endpoint, keyName: rule.name, key: key).text)
    }
}
