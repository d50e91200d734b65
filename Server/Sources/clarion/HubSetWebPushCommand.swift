import ArgumentParser
import CommandLineSupport
import PushHub
import WebPushProtocol

struct HubSetWebPushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-web-push",
        abstract: "Set a hub's own key pair for the push services of browsers. It is stored sealed and never shown.",
        discussion: """
            Browsers that subscribed with the server's keys are still sent to. Those that subscribed with a former pair of the hub get nothing \
            any more until they subscribe again.
            """)

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @Option(help: "Where a private VAPID key lies, as clarion web-push-key prints it.")
    var keyPath: String?

    @Option(
        help: "Where the operator of a push service reaches you: mailto: with an address, or an https address, at a public host."
    )
    var subject: String?

    @Flag(help: "Remove the hub's own keys, so that the node's hold again.")
    var remove = false

    @OptionGroup var node: NodeArguments

    func validate() throws {
        guard remove != (keyPath != nil) else { throw ValidationError("give --key-path or --remove") }
        guard remove == (subject == nil) else { throw ValidationError("--subject belongs to --key-path") }
        guard subject.map(VAPIDIdentity.isSubject) ?? true else {
            throw ValidationError(
                "--subject is mailto: with an address, or an https address, at a public host: Apple refuses localhost and the like"
            )
        }
    }

    func run() async throws {
        let hubs = try node.hubs()
        try await hubs.setCredential(remove ? .remove(.browser) : .set(.browser(credential())), of: name)
        print(remove ? "hub \(name) uses the node's keys for browsers" : "hub \(name) has keys for browsers of its own")
    }

    private func credential() throws -> HubBrowserCredential {
        let path = keyPath ?? ""
        let data = try ContentInput.read(path, limit: 1_000)
        let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let key = VAPIDKey(privateText: words[0]) else {
            throw InputFault("\(path) is not one key of 43 letters of Base64", .badInput)
        }
        return HubBrowserCredential(subject: subject ?? "", publicKey: key.publicText, privateKey: key.privateText)
    }
}
