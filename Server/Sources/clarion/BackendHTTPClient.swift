import ArgumentParser
import AsyncHTTPClient
import ClarionServer
import NIOCore
import NIOPosix
import NIOSSL
import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The part of the app backend's interface that the command line uses.
struct BackendHTTPClient: Sendable {
    /// The states after which nothing more happens.
    static let finalStates: Set<String> = ["completed", "cancelled", "expired", "failed"]

    let address: String
    let user: UserName
    let password: SecretText
    private let http = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup)

    init(address: String, user: UserName, password: SecretText) {
        self.address = address
        self.user = user
        self.password = password
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

    /// A page of sends, newest first.
    func sends(before: String?, limit: Int) async throws -> SendList {
        let cursor = before.map { "&before=\($0)" } ?? ""
        return try await answer(
            to: HTTPClientRequest(url: address + APIRoute.sends + "?limit=\(limit)" + cursor), as: SendList.self)
    }

    /// Takes back what was sent.
    func recall(_ id: RichID) async throws {
        var message = HTTPClientRequest(url: address + APIRoute.notification(id))
        message.method = .DELETE
        _ = try await body(ofAnswerTo: message)
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

    private func body(ofAnswerTo message: HTTPClientRequest) async throws -> Data {
        var message = message
        message.setBasicAuth(username: user.text, password: password.reveal())
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

    /// The library's own words name places in its source; what can be told of them is this.
    private static func tlsSentence(for words: String, address: String) -> String {
        if words.contains("WRONG_VERSION_NUMBER") || words.contains("HTTP_REQUEST") {
            return "\(address) does not speak TLS; is it an http address?"
        }
        if words.contains("CERTIFICATE_VERIFY_FAILED") || words.contains("ailedToValidateHostname") {
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

extension SealingError {
    /// For whoever called the program.
    fileprivate var sentence: String {
        switch self {
        case .badRecipients: "a seal is for 1 to \(Sealer.recipientLimit) installations, each named once"
        case .badKey: "one of the keys is none that can be sealed for"
        case .badSize: "what is sealed has at least one byte, a content at most 50 MB and a thumb at most 500 KB"
        case .notForThisKey, .broken, .file: "it could not be sealed"
        }
    }
}
