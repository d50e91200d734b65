import AsyncHTTPClient
import NIOCore
import RichPushModel
import RichPushSealing
import ServiceErrors
import SimulatedPhonePage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A program that seals and sends, as `clarion send --seal` is one: it talks to the demo's node over HTTP, which gets nothing that
/// it could read.
struct DemoSender: Sendable {
    /// How often the number is asked for anew when other sends are faster.
    private static let attempts = 5
    private static let deadline = TimeAmount.seconds(20)

    let client: HTTPClient
    /// Where the node listens.
    let port: Int

    func send(_ draft: SealedDraft) async throws -> SendAnswer {
        guard let sender = UserName(draft.sender) else { throw ServiceError(.invalidField, "field 'sender': not a user name") }
        let users = try draft.users.map { name in
            guard let user = UserName(name) else { throw ServiceError(.invalidField, "field 'users': not a user name") }
            return user
        }
        guard !users.isEmpty else { throw ServiceError(.invalidField, "field 'users': name somebody to seal for") }
        let sealer = try sealer(for: draft)
        var content: String?
        if let sealed = sealer.content { content = try await upload(sealed, by: sender) }
        for attempt in 1... {
            let directory = try await directory(of: users, for: sender)
            let envelope = try sealed { () throws(SealingError) in
                try sealer.envelope(for: directory.number, to: try recipients(directory))
            }
            let stored = try await upload(envelope, by: sender)
            var request = SendRequest(message: "")
            request.kind = .sealed
            request.id = directory.number
            request.audience = users.map { "username:\($0.text)" }.joined(separator: " || ")
            request.style = draft.style
            request.contentID = content ?? stored
            request.thumbID = stored
            do {
                return try await post(APIRoute.notifications, JSONEncoder().encode(request), "application/json", by: sender)
            } catch let error as ServiceError where error.code == .conflict && attempt < Self.attempts {
                continue
            }
        }
        throw ServiceError(.conflict, "other sends were faster each time")
    }

    private func sealer(for draft: SealedDraft) throws -> Sealer {
        var words = SealedWords(kind: draft.kind, title: draft.title, message: draft.message)
        words.subtitle = draft.subtitle
        words.altText = draft.altText
        words.link = draft.link
        words.coupon = draft.coupon
        let content = try draft.content.map { bytes in
            guard let name = draft.fileName, let format = MediaFormat(fileName: name) else {
                throw ServiceError(.invalidField, "field 'fileName': its ending must tell a type that a device takes")
            }
            return SealingPart(bytes: bytes, format: format, fileName: name)
        }
        let thumb = draft.thumb.map { SealingPart(bytes: $0, format: .png) }
        return try sealed { () throws(SealingError) in try Sealer(words: words, content: content, thumb: thumb) }
    }

    private func recipients(_ directory: SealingDirectory) throws(SealingError) -> [SealingRecipient] {
        var recipients: [SealingRecipient] = []
        for entry in directory.keys {
            recipients.append(SealingRecipient(installation: entry.installation, key: try SealingPublicKey(entry.key)))
        }
        return recipients
    }

    private func sealed<Value>(_ work: () throws(SealingError) -> Value) throws -> Value {
        do throws(SealingError) { return try work() } catch {
            switch error {
            case .badRecipients:
                throw ServiceError(.conflict, "there is no key to seal for: nobody of them is signed in on a phone")
            case .badSize: throw ServiceError(.contentTooLarge, "a sealed content has at most 50 MB and its picture 500 KB")
            default: throw ServiceError(.conflict, "it could not be sealed")
            }
        }
    }

    private func directory(of users: [UserName], for sender: UserName) async throws -> SealingDirectory {
        let names = users.map { $0.text.replacing("@", with: "%40") }.joined(separator: ",")
        return try await answer(to: HTTPClientRequest(url: address + APIRoute.sealing + "?users=" + names), by: sender)
    }

    private func upload(_ bytes: Data, by sender: UserName) async throws -> String {
        let answer: ContentAnswer = try await post(APIRoute.content, bytes, MediaFormat.sealed.rawValue, by: sender)
        return answer.id
    }

    private func post<Answer: Decodable>(
        _ path: String, _ body: Data, _ mediaType: String, by sender: UserName
    ) async throws -> Answer {
        var message = HTTPClientRequest(url: address + path)
        message.method = .POST
        message.headers.add(name: "content-type", value: mediaType)
        message.body = .bytes(ByteBuffer(bytes: body))
        return try await answer(to: message, by: sender)
    }

    private var address: String { "http://127.0.0.1:\(port)" }

    /// In a demo the password is the name.
    private func answer<Answer: Decodable>(to message: HTTPClientRequest, by sender: UserName) async throws -> Answer {
        var message = message
        message.setBasicAuth(username: sender.text, password: sender.text)
        let response: HTTPClientResponse
        let body: Data
        do {
            response = try await client.execute(message, timeout: Self.deadline)
            body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        } catch {
            throw ServiceError(.notReady, "the app backend does not answer")
        }
        guard (200..<300).contains(response.status.code) else {
            let problem = try? JSONDecoder().decode(Problem.self, from: body)
            throw ServiceError(response.status == .conflict ? .conflict : .invalidField, problem?.detail ?? problem?.title)
        }
        return try JSONDecoder().decode(Answer.self, from: body)
    }
}
