import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Calls the app backend: signs requests for its origin only, bounds every wait, and turns answers into values or errors.
struct BackendClient: Sendable {
    /// The most that a JSON answer may hold.
    static let answerLimit = 1 << 20
    /// How many redirects a download follows.
    static let redirectLimit = 3

    let backend: URL
    let transport: any HTTPTransport
    let clock: any ServiceClock
    /// Over what its requests may go.
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
}
