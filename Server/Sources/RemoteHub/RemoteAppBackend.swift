import HubProtocol
import NIOCore
import NIOPosix
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An app backend elsewhere, as far as sending sealed needs it.
///
/// Calls end within `RemoteHubOptions.deadline` and throw `Problem` when the backend says what is wrong, else `RemoteHubError`.
/// No retries here: callers can retry a send with its key, and an upload is harmless. Close it with `shutDown()`.
public final class RemoteAppBackend: SealedBackend {
    private let address: String
    private let authorization: String
    private let options: RemoteHubOptions
    private let transport: any HubTransport

    /// Opens a backend by its address, https or http to this machine, and the user who sends. No connection is made yet.
    public convenience init(
        _ address: String, user: UserName, password: String, options: RemoteHubOptions = RemoteHubOptions(trustRootsPath: nil),
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup
    ) throws(RemoteHubError) {
        // Before there are connections that an error would leave open.
        try Self.check(address)
        try self.init(
            address, user: user, password: password, options: options, transport: try HTTPClientTransport(options, group: group))
    }

    init(
        _ address: String, user: UserName, password: String, options: RemoteHubOptions, transport: any HubTransport
    ) throws(RemoteHubError) {
        try Self.check(address)
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        authorization = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        self.options = options
        self.transport = transport
    }

    private static func check(_ address: String) throws(RemoteHubError) {
        guard let url = URL(string: address), let host = url.host, url.query == nil, url.user == nil,
            url.scheme == "https" || url.scheme == "http" && ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        else { throw .invalidRequest("a backend's address is https, or http to this machine") }
    }

    /// Closes the connections.
    public func shutDown() async throws { try await transport.shutDown() }

    public func sealingDirectory(of users: [UserName]?) async throws -> SealingDirectory {
        // Names have no characters that would need escaping but this one.
        let names = users?.map { $0.text.replacing("@", with: "%40") }.joined(separator: ",")
        return try await answer("GET", APIRoute.sealing + (names.map { "?users=" + $0 } ?? ""), as: SealingDirectory.self)
    }

    public func upload(sealed bytes: Data) async throws -> String {
        let answer = try await answer(
            "POST", APIRoute.content, [HeaderField("content-type", MediaFormat.sealed.rawValue)], Array(bytes),
            as: ContentAnswer.self)
        return answer.id
    }

    public func send(_ request: SendRequest, idempotencyKey: String) async throws -> SendAnswer {
        let fields = [HeaderField("content-type", "application/json"), HeaderField("idempotency-key", idempotencyKey)]
        return try await answer(
            "POST", APIRoute.notifications, fields, Array(try JSONEncoder().encode(request)), as: SendAnswer.self)
    }

    private func answer<Answer: Decodable>(
        _ method: String, _ path: String, _ fields: [HeaderField] = [], _ body: [UInt8] = [], as type: Answer.Type
    ) async throws -> Answer {
        let headers = HeaderList([HeaderField("authorization", authorization)] + fields)
        let response: HubResponse
        do {
            response = try await transport.exchange(
                HubRequest(method: method, url: address + path, headers: headers, body: body), within: options.deadline)
        } catch let fault as TransportFault {
            throw AnswerReading.error(of: fault, mayBeDone: false)
        }
        guard (200..<300).contains(response.status) else {
            if let problem = try? JSONDecoder().decode(Problem.self, from: Data(response.body)) { throw problem }
            throw AnswerReading.error(of: response, mayBeDone: false)
        }
        guard let value = try? JSONDecoder().decode(type, from: Data(response.body)) else {
            throw AnswerReading.unreadable("answer of an app backend")
        }
        return value
    }
}

/// What sending sealed needs of an app backend. Nothing that passes through it can be read there.
///
/// A function throws `Problem` for an answer that says what is wrong.
public protocol SealedBackend: Sendable {
    /// The keys to seal for, and the number of the next send; without names those of the caller.
    func sealingDirectory(of users: [UserName]?) async throws -> SealingDirectory
    /// Stores sealed bytes and returns the id to name them by.
    func upload(sealed bytes: Data) async throws -> String
    /// Sends. The same key twice is one send.
    func send(_ request: SendRequest, idempotencyKey: String) async throws -> SendAnswer
}
