import APNsEmulation
import DeviceSimulation
import Logging
import NIOPosix
import RemoteHub
import RichPushModel
import RichPushSealing
import ServerComposition
import ServerSettings
import ServiceErrors
import ServiceLifecycle
import SimulatedPhonePage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How `clarion demo` runs.
public struct DemoOptions: Hashable, Sendable {
    /// The port asked for; absent means 8080, or any free one when that is taken.
    public var port: Int?
    /// Where the demo keeps its state; removing the folder starts it afresh.
    public var directory: String
    /// Whether the state of an earlier demo is removed first.
    public var startsAfresh: Bool
    /// How `clarion` is called from this shell, for the commands that the demo prints.
    public var program: String

    /// Creates options.
    public init(port: Int?, directory: String, startsAfresh: Bool, program: String) {
        self.port = port
        self.directory = directory
        self.startsAfresh = startsAfresh
        self.program = program
    }
}

/// Everything in one process: a node, a local APNs and simulated iPhones. Listens on loopback only.
public enum DemoService {
    /// Runs until the process gets a signal to stop. `announce` gets the lines for the terminal once the page answers.
    public static func run(_ options: DemoOptions, announce: @escaping @Sendable (String) -> Void) async throws {
        let logger = Observability.start(Settings.Logging(level: .warning, format: .text))
        try DemoFolder.prepare(options)
        let demo = try await Demo.make(
            directory: options.directory, port: try await DemoPort.choose(options.port), logger: logger)
        let demoService = ClosureService {
            try await demo.run { port in
                announce("")
                announce("  Open  http://127.0.0.1:\(port)/phone")
                announce("")
                announce(
                    "  Press Clarion's icon there and sign in with any name; the password is the name. Then press Send push.")
                announce("  Server, hub, APNs client and phone are the real ones; Apple and iOS are simulated on this machine.")
                announce("")
                announce("  Send to alice from a terminal, once a phone is signed in as alice:")
                announce("  \(Self.send(port))")
                announce("")
                announce("  Make a key for a service, and try the API with it at http://127.0.0.1:\(port)/docs/api:")
                announce("  \(Self.keyCreation(options))")
                announce("")
                announce("  State is kept in \(options.directory). Stop with Control-C.")
            }
        }
        try await ProcessServices.run([demoService], deadline: .seconds(5), logger: logger)
    }

    /// A command for the terminal that makes a key at the demo's server.
    private static func keyCreation(_ options: DemoOptions) -> String {
        let folder = word(options.directory + "/server")
        return "\(word(options.program)) key create shop --scope send status --data-directory \(folder)"
    }

    /// A path as one word of a shell command.
    private static func word(_ path: String) -> String {
        let isPlain = path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "/.-_".contains($0) }
        return isPlain ? path : "'" + path.replacing("'", with: #"'\''"#) + "'"
    }

    /// A command for the terminal that sends a link to alice.
    private static func send(_ port: Int) -> String {
        let body = #"{"audience": "username:alice", "message": "Hello from curl", "link": "https://example.com"}"#
        let address = "http://127.0.0.1:\(port)/api/v1/notifications"
        return "curl -u alice:alice -H 'Content-Type: application/json' -d '\(body)' \(address)"
    }
}

/// A program that seals and sends, as `clarion send --seal` is one: it talks to the demo's node over HTTP, which gets nothing that
/// it could read.
struct DemoSender: Sendable {
    /// Where the node listens.
    let port: Int

    /// Throws `ServiceError`.
    func send(_ draft: SealedDraft) async throws -> SealedDraftAnswer {
        let sender = try Self.name(draft.sender, "sender")
        let users = try draft.users.map { try Self.name($0, "users") }
        guard !users.isEmpty else { throw ServiceError(.invalidField, "field 'users': name at least one user to seal for") }
        let message = try Self.message(draft)
        var warnings: [String] = []
        let result: Result<SendAnswer, any Error>
        // In a demo the password is the name.
        var options = RemoteHubOptions()
        options.deadline = .seconds(20)
        let backend = try RemoteAppBackend(
            "http://127.0.0.1:\(port)", user: sender, password: sender.text, options: options)
        do {
            result = .success(try await SealedSender(backend).send(message, to: users) { warnings.append("\($0)") })
        } catch {
            result = .failure(Self.serviceError(for: error))
        }
        try? await backend.shutDown()
        return SealedDraftAnswer(try result.get(), warnings: warnings)
    }

    private static func name(_ text: String, _ field: String) throws(ServiceError) -> UserName {
        guard let name = UserName(text) else {
            throw ServiceError(.invalidField, "field '\(field)': '\(text)' is not a user name")
        }
        return name
    }

    private static func message(_ draft: SealedDraft) throws(ServiceError) -> SealedMessage {
        var texts = SealedText(kind: draft.kind, title: draft.title, message: draft.message)
        texts.subtitle = draft.subtitle
        texts.altText = draft.altText
        texts.link = draft.link
        texts.coupon = draft.coupon
        var content: SealingPart?
        if let bytes = draft.content {
            guard let name = draft.fileName, let format = MediaFormat(fileName: name) else {
                throw ServiceError(.invalidField, "field 'fileName': its extension must name a type that a device takes")
            }
            content = SealingPart(bytes: bytes, format: format, fileName: name)
        }
        return SealedMessage(
            words: texts, content: content, thumb: draft.thumb.map { SealingPart(bytes: $0, format: .png) }, style: draft.style)
    }

    private static func serviceError(for error: any Error) -> any Error {
        switch error {
        case SealedSendError.unfit(let field, let rule): ServiceError(.invalidField, "field '\(field)': it must be \(rule)")
        case let error as SealedSendError: ServiceError(.conflict, "\(error), and nothing was sent")
        case SealingError.badSize:
            ServiceError(.contentTooLarge, "a sealed content has 1 byte to 50 MB, and its picture at most 500 KB")
        case is SealingError: ServiceError(.conflict, "it could not be sealed")
        case let problem as Problem:
            ServiceError(problem.status == 409 ? .conflict : .invalidField, problem.detail ?? problem.title)
        case let error as RemoteHubError: ServiceError(.notReady, "the app backend does not answer: \(error)")
        default: error
        }
    }
}
