import ArgumentParser

struct HubRotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract:
            "Replace one key of an access rule. The rule's other key goes on working; whoever has the old one is out in seconds.")

    @OptionGroup var target: HubKeyArguments
    @OptionGroup var node: NodeArguments

    func run() async throws {
        _ = try await node.hubs().rotate(target.key, ofRule: target.ruleName, of: target.name)
        print("the \(target.key.rawValue) key of \(target.ruleName) is new; clarion hub connection-string prints it")
    }
}
