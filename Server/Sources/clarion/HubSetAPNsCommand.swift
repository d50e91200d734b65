import ArgumentParser
import CommandLineSupport
import PushHub
import ServerOperations
import ServiceErrors

struct HubSetAPNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-apns",
        abstract:
            "Set a hub's own credential for Apple's push service: a signing key, or a certificate. It is stored sealed and never shown."
    )

    @Argument(help: "The hub.", transform: HubName.argument)
    var name: HubName

    @Option(help: "Where the signing key (.p8) lies.")
    var keyPath: String?

    @Option(help: "The id of the signing key, ten letters and digits.")
    var keyID: String?

    @Option(help: "The team that owns it, ten letters and digits.")
    var teamID: String?

    @Option(help: "Where a certificate with its key lies, PEM or PKCS #12. A password is asked for, or read from standard input.")
    var certificatePath: String?

    @Flag(help: "The certificate's file has a password.")
    var withPassword = false

    @Option(help: "The bundle id of the app; a certificate may name it itself.")
    var topic: String?

    @Option(help: "sandbox or production.")
    var environment: HubAPNsCredential.Environment = .production

    @Flag(help: "Remove the hub's own credential, so that the node's holds again.")
    var remove = false

    @OptionGroup var node: NodeArguments

    func validate() throws {
        let ways = [keyPath != nil, certificatePath != nil, remove].filter { $0 }
        guard ways.count == 1 else { throw ValidationError("give --key-path, --certificate-path or --remove") }
        guard keyPath == nil || (keyID != nil && teamID != nil && topic != nil) else {
            throw ValidationError("a signing key needs --key-id, --team-id and --topic")
        }
        for (option, id) in [("--key-id", keyID), ("--team-id", teamID)] where id.map(Self.isIdentifier) == false {
            throw ValidationError("\(option) has ten letters and digits")
        }
        guard topic.map(HubAdministration.isBundleID) ?? true else {
            throw ValidationError("--topic is a bundle id such as com.example.app")
        }
    }

    func run() async throws {
        let hubs = try node.hubs()
        try await hubs.setCredential(remove ? .remove(.apns) : .set(.apns(checkedCredential())), of: name)
        print(remove ? "hub \(name) uses the node's credential" : "hub \(name) has a credential of its own")
    }

    /// The words are checked by now, so what is wrong is the file.
    private func checkedCredential() throws -> HubAPNsCredential {
        let credential = try credential()
        do throws(ServiceError) { try HubAdministration.check(.apns(credential)) } catch {
            throw InputFault("\(keyPath ?? certificatePath ?? ""): \(error.sentence)", .badInput)
        }
        return credential
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    private func credential() throws -> HubAPNsCredential {
        if let keyPath, let keyID, let teamID {
            let key = String(decoding: try ContentInput.read(keyPath, limit: Self.fileLimit), as: UTF8.self)
            return HubAPNsCredential(
                identity: .token(key: key, keyID: keyID, teamID: teamID), topic: topic, environment: environment)
        }
        let password = withPassword ? try Terminal.askPassword("Password of the certificate:").reveal() : nil
        return HubAPNsCredential(
            identity: .certificate(
                data: Array(try ContentInput.read(certificatePath ?? "", limit: Self.fileLimit)), password: password),
            topic: topic, environment: environment)
    }

    private static let fileLimit = 1_000_000
}
