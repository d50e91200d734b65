import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import RichPushModel
import ServiceErrors

/// Answers every request of a listener; made by `ServiceRouter`.
public struct ServiceResponder: HTTPResponder {
    public typealias Context = ServiceRequestContext

    let routes: RouterResponder<ServiceRequestContext>
    let ownRoutes: RouterResponder<ServiceRequestContext>
    let table: RouteTable
    let options: ServiceOptions
    private let metrics: RequestMetrics
    private let deadlines: DeadlineWatch

    init(
        routes: RouterResponder<ServiceRequestContext>, ownRoutes: RouterResponder<ServiceRequestContext>, table: RouteTable,
        options: ServiceOptions
    ) {
        self.routes = routes
        self.ownRoutes = ownRoutes
        self.table = table
        self.options = options
        metrics = RequestMetrics(factory: options.metrics)
        deadlines = DeadlineWatch(clock: options.clock, longestSleep: options.requestDeadline)
    }

    public func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        let start = options.clock.uptime
        var match = table.match(path: request.uri.path, method: request.method)
        if case .own = match, table.own?.takes(request) != true { match = .unknown }
        let trace = TraceContext(parents: request.headers[values: .traceParent], states: request.headers[values: .traceState])
        var context = context
        if let trace { context.logger[metadataKey: LogKey.traceID.rawValue] = .string(trace.traceID) }
        if let origin = options.webOrigins.admitted(request) { context = context.calling(from: origin) }
        let progress = BodyProgress()
        metrics.began()
        defer { metrics.ended() }
        var response: Response
        var failure: RequestFailure?
        do {
            response = try await TraceContext.$current.withValue(trace) { [context, match] in
                try await answer(request, context: context, match: match, progress: progress)
            }
        } catch let error as HTTPParserError {
            // Hummingbird itself answers these and closes the connection, in which nothing can be read any more.
            throw error
        } catch {
            let failed = RequestFailure(error)
            response = errorResponse(to: request, failed, match: match, requestID: context.requestID)
            failure = failed
        }
        if case .own = match { table.own?.complete(&response, for: request, context: context) }
        if request.method == .head { response = response.createHeadResponse() }
        finish(&response, context: context, bodyLeft: Self.leavesBody(request, progress, failure))
        options.webOrigins.write(to: &response.headers, of: request, from: context.webOrigin)
        if options.requiresTLS, request.cameOverTLS { response.headers.append(SecurityHeaders.strictTransport) }
        let record = RequestRecord(
            request: request, context: context, template: match.template, status: response.status,
            duration: options.clock.uptime - start, failure: failure)
        metrics.record(record)
        record.log(successLevel: options.accessLogLevel)
        return response
    }

    private func answer(
        _ request: Request, context: ServiceRequestContext, match: RouteTable.Match, progress: BodyProgress
    ) async throws -> Response {
        guard Self.headerBytes(request) <= options.maximumHeaderBytes else {
            throw ServiceError(.headersTooLarge, "header fields have at most \(options.maximumHeaderBytes) bytes together")
        }
        if let answer = try options.webOrigins.preflightAnswer(to: request, from: context.webOrigin) { return answer }
        if Self.announcesBody(request), let coding = request.headers[.contentEncoding], coding.lowercased() != "identity" {
            // RFC 9110, 15.5.16: the answer names what is taken.
            throw ErrorWithHeaders(
                error: ServiceError(
                    .unsupportedMediaType, "Content-Encoding: bodies are taken without any; send the body as it is"),
                headers: [.acceptEncoding: "identity"])
        }
        switch match {
        case .handler(_, let method):
            return try await handle(request, by: routes, method: method, context: context, progress: progress)
        case .own(let match, let method):
            return try await handle(
                request, by: ownRoutes, method: method, context: context, progress: progress, ownRoute: match.route)
        case .options(_, let allowed):
            return Response(status: .noContent, headers: [.allow: allowed])
        case .wrongMethod:
            throw ServiceError(.methodNotAllowed)
        case .unknown:
            throw ServiceError(.unknownRoute)
        }
    }

    private func handle(
        _ request: Request, by routes: RouterResponder<ServiceRequestContext>, method: HTTPRequest.Method,
        context: ServiceRequestContext, progress: BodyProgress, ownRoute: (any Sendable)? = nil
    ) async throws -> Response {
        let promised = request.headers[.contentLength].flatMap { Int($0) }
        var head = request.head
        head.method = method
        let body = BoundedBody(
            base: request.body, limit: options.maximumBodyBytes, promised: promised, progress: progress,
            waiting: Self.asksFirst(request) ? context.channel : nil)
        let bounded = Request(head: head, body: RequestBody(asyncSequence: body))
        let context = context.handling(
            isHead: request.method == .head, ownRoute: ownRoute,
            deadline: RequestDeadline(at: options.clock.uptime + options.requestDeadline))
        return try await beforeDeadline(context, progress, request: bounded) { context in
            try await routes.respond(to: bounded, context: context)
        }
    }

    private func beforeDeadline(
        _ context: ServiceRequestContext, _ progress: BodyProgress, request: Request,
        handler: @escaping @Sendable (ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let (result, isLate) = await deadlines.run(until: context.deadline) { try await handler(context) }
        switch result {
        // Return the result of a cancelled handler that succeeded: a client would retry after an unknown outcome.
        case .success(let response): return response
        // Nor does a deadline count that passed after the request as a whole was given up.
        case .failure(let error) where !isLate || Task.isCancelled: throw error
        // What waits for so long waits for storage, and a question changes nothing.
        case .failure where request.method == .get || request.method == .head:
            throw ServiceError(.storageUnavailable, "the answer took too long")
        case .failure where progress.hasEnded || !Self.announcesBody(request):
            throw ServiceError(.outcomeUnknown, "the answer took too long")
        case .failure: throw ServiceError(.requestTimeout, "the body did not arrive in time")
        }
    }

    /// Whether the answer leaves an unread body behind, so that the connection can serve no other request.
    private static func leavesBody(_ request: Request, _ progress: BodyProgress, _ failure: RequestFailure?) -> Bool {
        guard announcesBody(request), !progress.hasEnded else { return false }
        if failure?.error.code == .requestTimeout { return true }
        // A client without its `100 Continue` may or may not send the body (RFC 9110, 10.1.1).
        if asksFirst(request), !progress.hasBegun { return true }
        return !isShort(request)
    }

    /// Whether the client waits to hear that its body is welcome.
    private static func asksFirst(_ request: Request) -> Bool {
        request.headers[.expect]?.lowercased() == "100-continue"
    }

    /// Whether what is left of the body is so little that reading it costs less than a new connection. The server does so.
    private static func isShort(_ request: Request) -> Bool {
        request.headers[.contentLength].flatMap { Int($0) }.map { $0 <= 64 * 1024 } ?? false
    }

    private static func headerBytes(_ request: Request) -> Int {
        request.headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }

    /// Whether the head announces a body. Over HTTP/2 a body may come unannounced; there the stream's window bounds it.
    private static func announcesBody(_ request: Request) -> Bool {
        if let length = request.headers[.contentLength] { return length != "0" }
        return request.headers[.transferEncoding] != nil
    }
}

extension RouteTable.Match {
    /// The template of the route, for logs and metrics.
    var template: String {
        switch self {
        case .handler(let template, _), .options(let template, _), .wrongMethod(let template, _): template
        case .own(let match, _): match.template
        case .unknown: "unmatched"
        }
    }
}

extension ServiceResponder {
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
            headers[.wwwAuthenticate] = Self.isCalledByPage(request) ? Self.pageChallenge : renderer.challenge
        case .methodNotAllowed:
            if case .wrongMethod(_, let allowed) = match { headers[.allow] = allowed }
        default: break
        }
        return Response(
            status: renderer.status(of: error, entry: entry), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: rendered.body)))
    }

    /// What a 401 to a script of a page asks for. At `Basic` the browser would ask the person for a password before the script learns of it.
    private static let pageChallenge = #"Bearer realm="clarion""#

    /// Whether a script makes the request, and not a person who opens an address (Fetch Metadata).
    private static func isCalledByPage(_ request: Request) -> Bool {
        request.headers[.secFetchMode].map { $0 != "navigate" } ?? false
    }

    private func renderer(for path: String, _ match: RouteTable.Match) -> any ErrorRenderer {
        if case .own = match, let own = table.own { return own.errorRenderer }
        let best = options.errorRenderers
            .filter { path == $0.key || path.hasPrefix($0.key + "/") }
            .max { $0.key.utf8.count < $1.key.utf8.count }
        return best?.value ?? ProblemRenderer()
    }

    /// Adds what every answer carries, and ends the connection of a client that still sends an unread body.
    func finish(_ response: inout Response, context: ServiceRequestContext, bodyLeft: Bool) {
        SecurityHeaders.add(to: &response.headers)
        context.answerFields.write(to: &response.headers)
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

/// How far the body of one request has been read.
final class BodyProgress: Sendable {
    private enum State { case untouched, begun, ended }

    private let state = NIOLockedValueBox(State.untouched)

    /// Whether the handler has begun to read it.
    var hasBegun: Bool { state.withLockedValue { $0 != .untouched } }

    /// Whether the last byte has been read.
    var hasEnded: Bool { state.withLockedValue { $0 == .ended } }

    /// The handler asks for bytes; true the first time.
    func begin() -> Bool {
        state.withLockedValue { state in
            defer { if state == .untouched { state = .begun } }
            return state == .untouched
        }
    }

    func end() { state.withLockedValue { $0 = .ended } }
}

/// A request body that keeps to its limit and cannot be cut short unnoticed.
///
/// The server's own stream ends quietly when the connection breaks or the task is cancelled; half an upload would look
/// whole.
private struct BoundedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let base: RequestBody
    let limit: Int
    /// What the `Content-Length` header promised.
    let promised: Int?
    let progress: BodyProgress
    /// Where `100 Continue` is sent, if the client waits for it.
    let waiting: (any Channel)?

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self, base: base.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let body: BoundedBody
        var base: RequestBody.AsyncIterator
        var count = 0

        mutating func next() async throws -> ByteBuffer? {
            if body.progress.begin() { body.waiting?.triggerUserOutboundEvent(WantsBody(), promise: nil) }
            guard let buffer = try await base.next() else {
                try Task.checkCancellation()
                guard body.promised.map({ $0 == count }) ?? true else {
                    throw ServiceError(.requestTimeout, "the connection ended before the body did")
                }
                body.progress.end()
                return nil
            }
            count += buffer.readableBytes
            guard count <= body.limit else {
                throw ServiceError(.payloadTooLarge, "the body has more than \(body.limit) bytes")
            }
            return buffer
        }
    }
}
