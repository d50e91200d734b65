import AppBackend
import ArgumentParser
import AsyncHTTPClient
import CommandLineSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RichPushModel
import RichPushSealing
import ServerSettings
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The part of the app backend's interface that the command line uses.
struct BackendHTTPClient: Sendable {
    /// The states after which nothing more happens.
    static let finalStates: Set<String> = ["completed", "cancelled", "expired", "failed"]

    /// With what the requests are signed.
    enum Credential: Sendable {
        case password(SecretText, of: UserName)
        case serviceKey(SecretText)
    }

    let address: String
    private let credential: Credential
    private let http = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup)

    init(address: String, credential: Credential) {
        self.address = address
        self.credential = credential
    }

    /// Gives the connections back when the work is done, and turns errors into a sentence and an exit code.
    func use(_ work: (BackendHTTPClient) async throws -> Void) async throws {
        do {
            try await work(self)
        } catch {
            try? await http.shutdown()
            throw explained(error)
        }
        try await http.shutdown()
    }

    /// Sends, with the file at `content` as the content, which is read while it is sent. The same key twice is one send.
    func send(_ request: SendRequest, content: String?, idempotencyKey: String) async throws -> SendAnswer {
        let json = try JSONEncoder().encode(request)
        var message = HTTPClientRequest(url: address + APIRoute.notifications)
        message.method = .POST
        message.headers.add(name: "Idempotency-Key", value: idempotencyKey)
        if let content {
            let form = try MultipartForm(json: json, path: content)
            message.headers.add(name: "content-type", value: form.mediaType)
            message.body = .stream(form, length: .known(form.byteCount))
        } else {
            message.headers.add(name: "content-type", value: "application/json")
            message.body = .bytes(ByteBuffer(bytes: json))
        }
        return try await answer(to: message, as: SendAnswer.self)
    }

    /// Where a send stands.
    func status(_ id: RichID) async throws -> SendStatus {
        try await answer(to: HTTPClientRequest(url: address + APIRoute.status(id)), as: SendStatus.self)
    }

    /// The same, with a page of the devices that got no push.
    func details(_ id: RichID, outcome: String?, after: String?, limit: Int) async throws -> SendDetails {
        let query = Self.query(["outcome": outcome, "after": after, "limit": "\(limit)"])
        return try await answer(to: HTTPClientRequest(url: address + APIRoute.send(id) + query), as: SendDetails.self)
    }

    /// A page of sends, newest first.
    func sends(
        sender: String?, since: Timestamp?, until: Timestamp?, before: String?, limit: Int
    ) async throws -> SendList {
        let query = Self.query([
            "sender": sender, "since": since.map { "\($0.milliseconds)" }, "until": until.map { "\($0.milliseconds)" },
            "before": before, "limit": "\(limit)",
        ])
        return try await answer(to: HTTPClientRequest(url: address + APIRoute.sends + query), as: SendList.self)
    }

    /// Those parameters that have a value, as a query.
    static func query(_ values: KeyValuePairs<String, String?>) -> String {
        "?" + values.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }.joined(separator: "&")
    }

    /// A request, with a JSON body if there is one.
    func message(_ method: HTTPMethod, _ path: String, json: Data? = nil, idempotencyKey: String? = nil) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: address + path)
        message.method = method
        if let idempotencyKey { message.headers.add(name: "Idempotency-Key", value: idempotencyKey) }
        if let json {
            message.headers.add(name: "content-type", value: "application/json")
            message.body = .bytes(ByteBuffer(bytes: json))
        }
        return message
    }

    /// Mints a one-time sign-in token.
    func mint(_ request: SignInTokenRequest) async throws -> SignInTokenAnswer {
        let json = try JSONEncoder().encode(request)
        return try await answer(to: message(.POST, APIRoute.prefix + "/sign-in-tokens", json: json), as: SignInTokenAnswer.self)
    }

    /// Takes back what was sent.
    func recall(_ id: RichID) async throws { _ = try await body(ofAnswerTo: message(.DELETE, APIRoute.notification(id))) }

    /// Stores the content at a path, whose type the server finds by its bytes, for a later send.
    func upload(_ path: String) async throws -> ContentAnswer {
        var message = message(.POST, APIRoute.content)
        message.headers.add(name: "content-type", value: "application/octet-stream")
        message.headers.add(name: "X-File-Name", value: PercentEncoding.encode(ContentInput.name(of: path)))
        message.body = .bytes(ByteBuffer(bytes: try ContentInput.read(path)))
        return try await answer(to: message, as: ContentAnswer.self)
    }

    /// Asks until the send has ended, four times a second, or until the time is over.
    func waitUntilFinal(_ id: RichID, atMost limit: Duration) async throws -> SendStatus {
        let end = ContinuousClock.now + limit
        var status = try await status(id)
        while !Self.finalStates.contains(status.state), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(250))
            status = try await self.status(id)
        }
        return status
    }

    func answer<Answer: Decodable>(to message: HTTPClientRequest, as type: Answer.Type) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await body(ofAnswerTo: message))
    }

    func body(ofAnswerTo message: HTTPClientRequest) async throws -> Data {
        var message = message
        switch credential {
        case .password(let password, let user): message.setBasicAuth(username: user.text, password: password.reveal())
        case .serviceKey(let key): message.headers.replaceOrAdd(name: "authorization", value: "Bearer \(key.reveal())")
        }
        let response = try await http.execute(message, timeout: .seconds(120))
        let body = Data(try await response.body.collect(upTo: 1_000_000).readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            if let problem = try? JSONDecoder().decode(Problem.self, from: body) { throw problem }
            throw UnexpectedAnswer(status: Int(response.status.code))
        }
        return body
    }

    private func explained(_ error: any Error) -> any Error {
        switch error {
        case let problem as Problem:
            Terminal.note("clarion: \(problem.detail ?? problem.title) (\(problem.status) \(problem.code))")
            return [401, 403].contains(problem.status) ? ExitCode.noPermission : ExitCode.failure
        case is UnexpectedAnswer, is SealingError:
            Terminal.note("clarion: \((error as? SealingError)?.sentence ?? "\(error)")")
            return ExitCode.failure
        case let fault as InputFault:
            Terminal.note("clarion: \(fault.sentence)")
            return fault.exitCode
        case is NIOConnectionError, is IOError, is HTTPClientError, is NIOSSLError, is NIOSSLExtraError:
            Terminal.note("clarion: \(Self.sentence(for: error, address: address))")
            return ExitCode.unreachable
        default:
            return error
        }
    }

    private static func sentence(for error: any Error, address: String) -> String {
        switch error {
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            "the name \(error.host) cannot be found"
        case is NIOSSLError, is NIOSSLExtraError: tlsSentence(for: "\(error)", address: address)
        case is NIOConnectionError, is IOError:
            "nothing answers at \(address); is the server running, and is this its address?"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "\(address) ended the connection before it answered; whether it took the send is not known"
        case let error as HTTPClientError where [.connectTimeout, .deadlineExceeded, .readTimeout].contains(error):
            "\(address) does not answer in time"
        default:
            "\(address) does not answer as a server does"
        }
    }

    /// The library's own description names lines of its source; this sentence explains the two common causes.
    private static func tlsSentence(for description: String, address: String) -> String {
        if description.contains("WRONG_VERSION_NUMBER") || description.contains("HTTP_REQUEST") {
            return "\(address) does not speak TLS; is it an http address?"
        }
        if description.contains("CERTIFICATE_VERIFY_FAILED") || description.contains("ailedToValidateHostname") {
            return
                "the certificate of \(address) is for another name, has run out, or comes from an authority that this machine does not trust"
        }
        return "no connection with TLS could be made to \(address)"
    }

    /// An answer that is none of the app backend's.
    struct UnexpectedAnswer: Error, CustomStringConvertible {
        var status: Int
        var description: String { "the server answered \(status) without saying why; is it Clarion?" }
    }
}

/// Reads the pages of a list, at most `limit` items. `read` takes a cursor and how many items to ask for, at most `pageSize`, and returns
/// the items and the cursor of the next page.
func everyPage<Item>(
    from cursor: String? = nil, limit: Int = .max, pageSize: Int = 100,
    _ read: (String?, Int) async throws -> ([Item], String?)
) async throws -> [Item] {
    var (items, next) = ([Item](), cursor)
    repeat {
        let (page, following) = try await read(next, min(pageSize, limit - items.count))
        items += page
        next = following
    } while next != nil && items.count < limit
    return items
}

extension ServerArguments {
    /// Signs with the service key in the environment, if there is one and no user is named by an option; else as a user.
    func client() throws -> BackendHTTPClient {
        if let (address, key) = try keyCredentials() {
            return BackendHTTPClient(address: address, credential: .serviceKey(key))
        }
        let (address, user, password) = try credentials()
        return BackendHTTPClient(address: address, credential: .password(password, of: user))
    }
}

extension SealingError {
    /// The message on standard error.
    fileprivate var sentence: String {
        switch self {
        case .badRecipients: "a seal is for 1 to \(Sealer.recipientLimit) installations, each named once"
        case .badKey: "one of the keys is none that can be sealed for"
        case .badSize: "what is sealed has at least one byte, a content at most 50 MB and a thumb at most 500 KB"
        case .notForThisKey, .broken, .file: "it could not be sealed"
        }
    }
}

extension BackendHTTPClient {
    /// What is needed to seal for some users, named with commas between them; without names for the caller.
    func sealingDirectory(users: String?) async throws -> SealingDirectory {
        // Names have no character that would need escaping but these two.
        let query = users.map {
            "?users=" + $0.filter { !$0.isWhitespace }.replacing("@", with: "%40").replacing("&", with: "%26")
        }
        return try await answer(
            to: HTTPClientRequest(url: address + APIRoute.sealing + (query ?? "")), as: SealingDirectory.self)
    }

    /// Stores bytes for a later send.
    func upload(_ bytes: Data, of format: MediaFormat) async throws -> ContentAnswer {
        var message = HTTPClientRequest(url: address + APIRoute.content)
        message.method = .POST
        message.headers.add(name: "content-type", value: format.rawValue)
        message.body = .bytes(ByteBuffer(bytes: bytes))
        return try await answer(to: message, as: ContentAnswer.self)
    }
}

/// The body of a send with content: the JSON part `notification`, then the part `content` with the bytes of a file. The file is
/// mapped and handed on in pieces, so that a large one is never in memory as a whole.
private struct MultipartForm: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private static let pieceSize = 65_536

    private let boundary: String
    private let head: [UInt8]
    private let content: Data
    private let tail: [UInt8]

    var mediaType: String { "multipart/form-data; boundary=\(boundary)" }
    var byteCount: Int64 { Int64(head.count + content.count + tail.count) }

    init(json: Data, path: String) throws(InputFault) {
        content = try ContentInput.read(path)
        boundary = "clarion-" + UUID().uuidString
        let name = Self.headerSafe(ContentInput.name(of: path))
        let disposition = "Content-Disposition: form-data; name="
        head =
            Array("--\(boundary)\r\n\(disposition)\"notification\"\r\nContent-Type: application/json\r\n\r\n".utf8) + json
            + Array("\r\n--\(boundary)\r\n\(disposition)\"content\"; filename=\"\(name)\"\r\n".utf8)
            + Array("Content-Type: application/octet-stream\r\n\r\n".utf8)
        tail = Array("\r\n--\(boundary)--\r\n".utf8)
    }

    /// Quotes, back-slashes and control characters would end or break the header.
    private static func headerSafe(_ name: String) -> String {
        String(name.unicodeScalars.map { $0.value < 32 || $0 == "\"" || $0 == "\\" || $0.value == 127 ? "_" : Character($0) })
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let form: MultipartForm
        fileprivate var sent = 0
        fileprivate var stage = Stage.head

        fileprivate enum Stage { case head, content, end }

        mutating func next() async -> ByteBuffer? {
            switch stage {
            case .head:
                stage = .content
                return ByteBuffer(bytes: form.head)
            case .content where sent < form.content.count:
                let piece = form.content.dropFirst(sent).prefix(MultipartForm.pieceSize)
                sent += piece.count
                return ByteBuffer(bytes: piece)
            case .content:
                stage = .end
                return ByteBuffer(bytes: form.tail)
            case .end:
                return nil
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(form: self) }
}
