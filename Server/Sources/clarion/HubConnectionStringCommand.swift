import ArgumentParser
import PushHub
import SharedAccess

struct HubConnectionStringCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection-string",
        abstract: "Print the connection string that every hub client reads. It holds a key: keep it as you keep passwords.")

    @OptionGroup var target: HubKeyArguments

    @OptionGroup var address: HubAddress

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let rule = try await node.hubs().rule(named: target.ruleName, of: target.name)
        let key = target.key == .primary ? rule.primary : rule.secondary
        print(try ConnectionString(endpoint: address.endpoint, keyName: rule.name, key: key).text)
    }
}
