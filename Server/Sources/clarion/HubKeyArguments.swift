import ArgumentParser
import PushHub
import SharedAccess

/// Which key of which hub a command is about.
struct HubKeyArguments: ParsableArguments {
    @Argument(help: "The hub; leave it out with --all-hubs.", transform: HubName.argument)
    var name: HubName?

    @Flag(help: "A rule that holds for every hub of the node, for managing hubs.")
    var allHubs = false

    @Option(help: "The access rule; else \(AccessRule.fullName), or \(HubRegistry.rootRuleName) with --all-hubs.")
    var rule: String?

    @Option(help: "primary or secondary.")
    var key: HubRegistry.KeyPlace = .primary

    func validate() throws {
        guard allHubs == (name == nil) else { throw ValidationError("give the name of a hub, or --all-hubs") }
    }

    var ruleName: String { rule ?? (allHubs ? HubRegistry.rootRuleName : AccessRule.fullName) }
}
