import RemoteHub
import RichPushModel
import RichPushSealing
import ServiceErrors
import SimulatedPhonePage

/// A program that seals and sends, as `clarion send --seal` is one: it talks to the demo's node over HTTP, which gets nothing that
/// it could read.
struct DemoSender: Sendable {
    /// Where the node listens.
    let port: Int

    /// Throws `ServiceError`.
    func send(_ draft: SealedDraft) async throws -> SealedDraftAnswer {
        let sender = try Self.name(draft.sender, "sender")
        let users = try draft.users.map { try Self.name($0, "users") }
        guard !users.isEmpty else { throw ServiceError(.invalidField, "field 'users': name somebody to seal for") }
        let message = try Self.message(draft)
        var warnings: [String] = []
        let result: Result<SendAnswer, any Error>
        // In a demo the password is the name.
        let backend = try RemoteAppBackend(
            "http://127.0.0.1:\(port)", user: sender, password: sender.text, options: .init(deadline: .seconds(20)))
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
        var words = SealedWords(kind: draft.kind, title: draft.title, message: draft.message)
        words.subtitle = draft.subtitle
        words.altText = draft.altText
        words.link = draft.link
        words.coupon = draft.coupon
        var content: SealingPart?
        if let bytes = draft.content {
            guard let name = draft.fileName, let format = MediaFormat(fileName: name) else {
                throw ServiceError(.invalidField, "field 'fileName': its ending must tell a type that a device takes")
            }
            content = SealingPart(bytes: bytes, format: format, fileName: name)
        }
        return SealedMessage(
            words: words, content: content, thumb: draft.thumb.map { SealingPart(bytes: $0, format: .png) }, style: draft.style)
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
