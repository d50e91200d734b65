import ArgumentParser
import CommandLineSupport
import PushHub
import ServerOperations
import ServiceErrors
import SharedAccess

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub", abstract: "Create, list and remove the notification hubs of a node, on its database.",
        subcommands: [
            HubCreateCommand.self, HubListCommand.self, HubShowCommand.self, HubRotateKeyCommand.self,
            HubConnectionStringCommand.self, HubContainerCommand.self, HubSetAPNsCommand.self, HubSetWebPushCommand.self,
            HubSetFCMCommand.self,
            HubDeleteCommand.self,
        ])
}

extension HubName {
    /// Reads an argument; the error names the rule that it breaks.
    static func argument(_ text: String) throws -> HubName {
        do throws(ServiceError) {
            return try HubRegistry.name(text)
        } catch { throw ValidationError(error.detail ?? "\(error)") }
    }
}

extension HubRegistry.KeyPlace: ExpressibleByArgument {}

extension HubAPNsCredential.Environment: ExpressibleByArgument {}

extension NodeArguments {
    /// The hubs of that node.
    func hubs() throws -> HubAdministration { HubAdministration(settings: try settings()) }
}

private struct HubCreateCommand: AsyncParsableCommand {
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

    @Option(help: "How many days a registration lives without renewal; by default without a limit.")
    var registrationDays: Int?

    @Flag(help: "Lets the key for apps claim tags such as username: that only a backend should set.")
    var allowProtectedTags = false

    @Flag(help: "Print JSON.")
    var json = false

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
        let hub = try await node.hubs().create(name, details: details)
        let words = "created hub \(name); clarion hub connection-string \(name) --host … prints what clients need"
        print(json ? try JSONOutput.text(of: HubDocument(hub)) : words)
    }
}

private struct HubListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the hubs.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let settings = try node.settings()
        let hubs = try await HubAdministration(settings: settings).list()
        if json { return print(try JSONOutput.text(of: hubs.map(HubDocument.init))) }
        let nodes = settings.platforms.contains(.apns) ? "node's" : "none"
        let rows = hubs.map { hub in
            [
                hub.name.text, "\(hub.id.number)", "\(hub.version)", hub.sealedCredentials[.apns] == nil ? nodes : "own",
                hub.details.userMetadata ?? "",
            ]
        }
        print(TextTable(columns: ["NAME", "ID", "VERSION", "APNS", "METADATA"], rows: rows))
    }
}

private struct HubShowCommand: AsyncParsableCommand {
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
        let lifetime = hub.record.details.registrationLifetime.map { "\($0.components.seconds / 86_400) days" } ?? "no limit"
        print(
            TextTable(
                columns: ["HUB", hub.record.name.text],
                rows: [
                    ["id", "\(hub.record.id.number)"], ["version", "\(hub.record.version)"], ["devices", "\(hub.deviceCount)"],
                    ["registrations live", lifetime],
                    ["protected tags", hub.record.details.allowsProtectedTags ? "open to apps" : "for backends only"],
                    ["apns", hub.credentialWords(for: .apns)], ["browser", hub.credentialWords(for: .browser)],
                    ["fcmv1", hub.credentialWords(for: .fcmv1)],
                    ["metadata", hub.record.details.userMetadata ?? ""],
                ]))
        print("")
        print(TextTable(columns: ["RULE", "RIGHTS"], rows: hub.rules.map { [$0.name, $0.rights.text] }))
    }
}

private struct HubRotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract:
            "Replace one key of an access rule. The rule's other key goes on working; clients with the old one are refused within seconds."
    )

    @OptionGroup var target: HubKeyArguments
    @OptionGroup var node: NodeArguments

    func run() async throws {
        _ = try await node.hubs().rotate(target.key, ofRule: target.ruleName, of: target.name)
        print("the \(target.key.rawValue) key of \(target.ruleName) is new; clarion hub connection-string prints it")
    }
}

private struct HubConnectionStringCommand: AsyncParsableCommand {
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

private struct HubContainerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract:
            "Print a signed link to a new container for the files of import and export jobs. Its holder can read and write there."
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

private struct HubDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove a hub with its keys, devices, sends and telemetry. It cannot be undone.")

    /// What `hub delete --json` prints.
    private struct Output: Encodable {
        var name: String
        var removed = true
    }

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let hubs = try node.hubs()
        if !yes {
            Terminal.note("Type the hub's name to remove \(name) with all its devices:")
            guard readLine().flatMap({ HubName($0) }) == name else { throw ValidationError("nothing was removed") }
        }
        try await hubs.delete(name)
        print(json ? try JSONOutput.text(of: Output(name: name.text)) : "removed hub \(name)")
    }
}

/// Which key of which hub a command is about.
private struct HubKeyArguments: ParsableArguments {
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

/// How clients reach the hubs of a node, as an operator says it: the node itself does not know what stands before it.
private struct HubAddress: ParsableArguments {
    @Option(
        help: "How clients reach the server: a name or address, and the port unless it is 443, such as push.example.com:8443.")
    var host: String

    @Flag(help: "For clients on this machine that can speak plain HTTP, at a loopback address only.")
    var plainHTTP = false

    func validate() throws { _ = try endpoint }

    /// The endpoint of a connection string.
    var endpoint: SharedAccessEndpoint {
        get throws {
            guard let endpoint = SharedAccessEndpoint("\(plainHTTP ? "http" : "sb")://\(host)/"), endpoint.path.isEmpty else {
                throw ValidationError(
                    "--host is a name or address with or without a port, and nothing more; --plain-http is for this machine only")
            }
            return endpoint
        }
    }
}

/// A hub as `--json` prints it. Nothing secret is in it.
private struct HubDocument: Encodable {
    struct Rule: Encodable {
        var name: String
        var rights: [String]
    }

    var name: String
    var id: Int64
    var version: Int64
    var createdAt: Int64
    var metadata: String?
    var registrationSeconds: Int64?
    var allowsProtectedTags: Bool
    var hasOwnAPNsCredential: Bool
    var apns: String?
    var browser: String?
    var fcmv1: String?
    var devices: Int?
    var rules: [Rule]?

    init(_ hub: HubRecord) {
        name = hub.name.text
        id = hub.id.number
        version = hub.version
        createdAt = hub.createdAt.milliseconds
        metadata = hub.details.userMetadata
        registrationSeconds = hub.details.registrationLifetime.map { $0.components.seconds }
        allowsProtectedTags = hub.details.allowsProtectedTags
        hasOwnAPNsCredential = hub.sealedCredentials[.apns] != nil
    }

    init(_ hub: HubAdministration.Overview) {
        self.init(hub.record)
        apns = hub.credentials[.apns].map { "\($0)" }
        browser = hub.credentials[.browser].map { "\($0)" }
        fcmv1 = hub.credentials[.fcmv1].map { "\($0)" }
        devices = hub.deviceCount
        rules = hub.rules.map { Rule(name: $0.name, rights: $0.rights.text.split(separator: ",").map(String.init)) }
    }
}
