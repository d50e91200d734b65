import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceErrors

extension ServiceResponder {
    /// The answer that tells what failed.
    func errorResponse(to request: Request, _ failure: RequestFailure, match: RouteTable.Match, requestID: String) -> Response {
        let error = failure.error
        let entry = ErrorTable.entry(for: error.code)
        let renderer = renderer(for: request.uri.path, match)
        let rendered = renderer.render(error, entry: entry, requestID: requestID)
        var headers = failure.headers
        headers[.contentType] = rendered.mediaType
        headers[.cacheControl] = "no-store"
        if let seconds = error.retryAfter ?? entry.retryAfter { headers[.retryAfter] = String(max(1, seconds)) }
        switch error.code {
        case .unauthenticated:
            headers[.wwwAuthenticate] = renderer.challenge
        case .methodNotAllowed:
            if case .wrongMethod(_, let allowed) = match { headers[.allow] = allowed }
        default: break
        }
        return Response(
            status: renderer.status(of: error, entry: entry), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: rendered.body)))
    }

    private func renderer(for path: String, _ match: RouteTable.Match) -> any ErrorRenderer {
        if case .own = match, let own = table.own { return own.errorRenderer }
        let best = options.errorRenderers
            .filter { path == $0.key || path.hasPrefix($0.key + "/") }
            .max { $0.key.utf8.count < $1.key.utf8.count }
        return best?.value ?? ProblemRenderer()
    }

    /// Adds what every answer carries, and ends the connection of a client that still sends a body nobody reads.
    func finish(_ response: inout Response, context: ServiceRequestContext, bodyLeft: Bool) {
        SecurityHeaders.add(to: &response.headers)
        response.headers[.requestID] = context.requestID
        guard bodyLeft else { return }
        response.headers[.connection] = "close"
        // Later, so that the client can read the answer; at once would reset the connection under it.
        let linger = TimeAmount.milliseconds(options.lingerTime.wholeMilliseconds)
        let channel = context.channel
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            channel.eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
        }
    }
}

extension HTTPField.Name {
    /// The id of the request, by which its log line is found.
    static let requestID = HTTPField.Name("X-Request-Id") ?? .via
}
