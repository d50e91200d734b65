import ArgumentParser
import CommandLineSupport
import RemoteHub
import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sealing happens here, in the sender's own process: the server gets what it cannot read.
extension SendNotificationCommand {
    func validateForSealing() throws {
        guard seal else {
            guard to == nil, keys == nil, thumb == nil else {
                throw ValidationError("--to, --keys and --thumb go with --seal; without it use --audience")
            }
            return
        }
        guard audience == nil else { throw ValidationError("a sealed send names its users with --to, not with --audience") }
        guard hub.hub == nil else { throw ValidationError("a hub stores no content: --seal needs an app backend") }
        _ = try users
        guard content != "-", thumb != "-" else {
            throw ValidationError("--seal reads the type of a content from the ending of its file name; name a file, not '-'")
        }
        guard preview != .open else { throw ValidationError("a sealed send shows Apple nothing, so not with --preview open") }
    }

    func sendSealed(_ client: BackendHTTPClient, idempotencyKey key: String) async throws -> SendAnswer {
        let message = SealedMessage(
            words: words, content: try content.map { try Self.part($0) }, thumb: try thumb.map { try Self.part($0) },
            style: style)
        do {
            return try await SealedSender(client).send(message, to: try users, pinned: try pinnedKeys, idempotencyKey: key) {
                Terminal.note("clarion: warning: \($0)")
            }
        } catch let error as SealedSendError {
            Terminal.note("clarion: \(error), and nothing was sent")
            throw error.exitCode
        }
    }

    private var users: [UserName]? {
        get throws {
            try to.map { text in
                try text.split(separator: ",").map { name in
                    let name = String(name.filter { !$0.isWhitespace })
                    guard let user = UserName(name) else { throw ValidationError("'\(name)' is not a user name") }
                    return user
                }
            }
        }
    }

    /// The keys of the file of `--keys`: then the server need not be trusted with them.
    private var pinnedKeys: [SealingDirectory.Key]? {
        get throws {
            guard let keys else { return nil }
            let data = try ContentInput.read(keys)
            do {
                return try JSONDecoder().decode([SealingDirectory.Key].self, from: data)
            } catch let error as DecodingError {
                throw InputFault("\(keys) is not what `clarion keys --json` prints: \(error.place)", .badInput)
            }
        }
    }

    private var words: SealedText {
        var words = SealedText(kind: kind ?? .text, title: title, message: message)
        words.subtitle = subtitle
        words.altText = altText
        words.link = link
        if let coupon, let headline { words.coupon = Coupon(code: coupon, headline: headline) }
        return words
    }

    private static func part(_ path: String) throws -> SealingPart {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let format = MediaFormat(fileName: name) else {
            throw InputFault("\(name) has an ending of no type that a device takes", .badInput)
        }
        let bytes = try ContentInput.read(path)
        return SealingPart(bytes: bytes, format: format, fileName: name)
    }
}

extension SealedSendError {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .overtaken: .tryAgain
        case .notPinned, .badKey, .unfit: .badInput
        case .noKeys, .tooManyInstallations: .failure
        }
    }
}

extension BackendHTTPClient: SealedBackend {
    func sealingDirectory(of users: [UserName]?) async throws -> SealingDirectory {
        try await sealingDirectory(users: users.map { names in names.map(\.text).joined(separator: ",") })
    }

    func upload(sealed bytes: Data) async throws -> String { try await upload(bytes, of: .sealed).id }

    func send(_ request: SendRequest, idempotencyKey: String) async throws -> SendAnswer {
        try await send(request, content: nil, idempotencyKey: idempotencyKey)
    }
}

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Show the public keys that a sealed send would be for.",
        discussion: """
            Compare the fingerprints with those that the apps show. With --json the output is a file for `clarion send --seal --keys`, \
            which seals for these keys alone, whatever the server says later.
            """)

    @OptionGroup var server: ServerArguments

    @Option(help: ArgumentHelp("Whose keys, with commas between the names. Without it your own.", valueName: "users"))
    var to: String?

    @Flag(help: "Print the keys themselves.")
    var json = false

    func run() async throws {
        try await server.client().use { client in
            let keys = try await client.sealingDirectory(users: to).keys
            if json {
                print(try JSONOutput.text(of: keys))
            } else if keys.isEmpty {
                Terminal.note("none of these users is signed in with an app that opens sealed content")
            } else {
                let rows = keys.map { [$0.user, $0.installation.text, (try? SealingPublicKey($0.key).fingerprint) ?? "no key"] }
                print(TextTable(columns: ["user", "installation", "fingerprint"], rows: rows))
            }
        }
    }
}
