import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Calls the app backend: authorizes requests for its origin only, bounds every wait, and turns answers into values or errors.
struct BackendClient: Sendable {
    /// The most that a JSON answer may hold.
    static let answerLimit = 1 << 20
    /// How many redirects a download follows.
    static let redirectLimit = 3

    let backend: URL
    let transport: any HTTPTransport
    let clock: any ServiceClock
    /// The networks that its requests may use.
    var network = AllowedNetwork.any

    /// Makes a call; the answer has a 2xx status.
    func call(
        _ call: BackendCall, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> TransportResponse {
        let request = try request(call, authorization)
        let transport = transport
        let outcome = await deadline.run { () async -> Result<TransportResponse, TransportError> in
            do throws(TransportError) {
                return .success(
                    try await transport.send(request, maximumBytes: Self.answerLimit, deadline: deadline.remaining))
            } catch { return .failure(error) }
        }
        let response = try Self.response(outcome)
        try Self.check(response, authorization)
        return response
    }

    /// Makes a call and reads its JSON.
    func value<Value: Decodable>(
        _ type: Value.Type, of call: BackendCall, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> Value {
        let response = try await self.call(call, as: authorization, within: deadline)
        guard let value = try? JSONDecoder().decode(type, from: response.body) else { throw .badAnswer }
        return value
    }

    /// Downloads to a file and follows redirects: only to https (or this machine, if the backend is), and without the
    /// authorization header as soon as the origin is another (Reference/IOSClient.md#6).
    func download(
        _ call: BackendCall, to file: URL, maximumBytes: Int64, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) {
        var request = try request(call, authorization)
        for _ in 0...Self.redirectLimit {
            let response = try await downloadOnce(request, to: file, maximumBytes: maximumBytes, within: deadline)
            if response.status == 200 { return }
            guard let next = try redirect(response, of: request) else {
                try Self.check(response, authorization)
                throw .badAnswer
            }
            request = next
        }
        throw .badRedirect
    }

    private func downloadOnce(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, within deadline: Deadline
    ) async throws(RichPushError) -> TransportResponse {
        let transport = transport
        let outcome = await deadline.run { () async -> Result<TransportResponse, TransportError> in
            do throws(TransportError) {
                return .success(
                    try await transport.download(
                        request, to: file, maximumBytes: maximumBytes, deadline: deadline.remaining))
            } catch { return .failure(error) }
        }
        return try Self.response(outcome)
    }

    private func request(_ call: BackendCall, _ authorization: Authorization) throws(RichPushError) -> TransportRequest {
        var text = backend.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        text += call.path
        if let query = call.query { text += "?" + query }
        guard let url = URL(string: text) else { throw .badAnswer }
        var headers = call.headers
        headers["authorization"] = authorization.header
        headers["accept"] = "*/*"
        if call.body != nil { headers["content-type"] = call.mediaType }
        return TransportRequest(method: call.method, url: url, headers: headers, body: call.body, network: network)
    }

    private func redirect(
        _ response: TransportResponse, of request: TransportRequest
    ) throws(RichPushError) -> TransportRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
        guard let location = response.headers["location"],
            let url = URL(string: location, relativeTo: request.url)?.absoluteURL, url.user == nil,
            let origin = Origin(url), let home = Origin(backend)
        else { throw .badRedirect }
        guard origin.scheme == "https" || (origin.isAcceptable && home.scheme == "http") else { throw .badRedirect }
        var next = TransportRequest(method: "GET", url: url, headers: request.headers, network: request.network)
        if origin != home { next.headers["authorization"] = nil }
        return next
    }

    /// The answer of a transport, or the error that stands for its absence.
    static func response(
        _ outcome: Result<TransportResponse, TransportError>?
    ) throws(RichPushError) -> TransportResponse {
        switch outcome {
        case .success(let response)?: return response
        case nil, .failure(.timedOut)?, .failure(.cancelled)?: throw .timedOut
        case .failure(.unreachable)?: throw .offline
        case .failure(.tooLarge)?: throw .tooLarge
        case .failure(.fileNotWritable)?: throw .storage(.failed)
        }
    }

    /// Throws unless the status is 2xx.
    static func check(_ response: TransportResponse, _ authorization: Authorization) throws(RichPushError) {
        switch response.status {
        case 200..<300: return
        case 300..<400: throw .badRedirect
        case 401: throw authorization.refusal(problem(response))
        case 404, 410: throw missing(response)
        case 408, 425, 429, 503: throw .serverBusy(retryAfter: retryAfter(response))
        case 500...: throw .serverFailed(response.status)
        default: throw .refused(problem(response))
        }
    }

    /// Notifications are deleted when the server no longer has them, so only an answer of the server itself counts: a proxy in front of
    /// a server that is being replaced answers 404 too.
    private static func missing(_ response: TransportResponse) -> RichPushError {
        guard let problem = try? JSONDecoder().decode(Problem.self, from: response.body) else {
            return .serverFailed(response.status)
        }
        return ["not-found", "registration-gone"].contains(problem.code) ? .notFound : .refused(problem)
    }

    /// Seconds only; capped at an hour.
    private static func retryAfter(_ response: TransportResponse) -> Duration? {
        response.headers["retry-after"].flatMap { Int64($0) }.map { .seconds(min(max($0, 0), 3600)) }
    }

    private static func problem(_ response: TransportResponse) -> Problem {
        (try? JSONDecoder().decode(Problem.self, from: response.body))
            ?? Problem(
                type: "about:blank", title: "The server refused the request", status: response.status, detail: nil,
                code: "http-\(response.status)")
    }
}

/// One request of the API, without the backend's address.
struct BackendCall: Sendable {
    var method: String
    /// From `APIRoute`.
    var path: String
    /// Already escaped.
    var query: String?
    var body: Data?
    var mediaType = "application/json"
    /// In addition to those of every call; names in lower case.
    var headers: [String: String] = [:]

    static func get(_ path: String, query: String? = nil) -> BackendCall {
        BackendCall(method: "GET", path: path, query: query)
    }

    /// A call with a JSON body.
    static func json(_ method: String, _ path: String, _ value: some Encodable) throws(RichPushError) -> BackendCall {
        guard let body = try? JSONEncoder().encode(value) else { throw .badAnswer }
        return BackendCall(method: method, path: path, body: body)
    }
}

/// How a request is authorized. It never prints its secret.
enum Authorization: Sendable, CustomStringConvertible {
    case password(UserName, String)
    /// A token that the app has from its own sign-in, for the exchange alone.
    case token(String)
    case installation(String)

    var header: String {
        switch self {
        case .password(let user, let password): "Basic " + Data("\(user.text):\(password)".utf8).base64EncodedString()
        case .token(let token): "Bearer " + token
        case .installation(let credential): "Bearer " + credential
        }
    }

    /// What a 401 means.
    func refusal(_ problem: Problem) -> RichPushError {
        switch self {
        case .password: .wrongPassword
        case .token: .tokenRejected(problem)
        case .installation: .credentialRejected
        }
    }

    var description: String {
        switch self {
        case .password: "Basic …"
        case .token, .installation: "Bearer …"
        }
    }
}
