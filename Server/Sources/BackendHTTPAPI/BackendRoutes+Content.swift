import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors
import WireText

extension BackendRoutes {
    func addContentRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.get("notifications/{id}") { request, context in
            try await admission.handling { try await content(request, context: context, $0) }
        }
        add(.post, "notifications/{id}/ticket", for: .readInbox, to: router) { call in
            let variant = try call.query("variant").variant()
            let id = try call.richID()
            let accepting = call.request.headers[.acceptLanguage]
            let issued = try await backend.issueTicket(for: id, variant: variant, accepting: accepting, for: call.principal)
            let path = "\(APIRoute.notification(id))?variant=\(variant.rawValue)&ticket=\(issued.ticket.queryEscaped)"
            return try .json(TicketAnswer(path: path, expiresAt: issued.expiresAt))
        }
        add(.post, "content", for: .storeContent, to: router) { call in try await store(call) }
    }

    /// The content bytes. A ticket stands for the credentials of the one who asked for it, for players that send no header.
    private func content(
        _ request: Request, context: ServiceRequestContext, _ place: RequestAdmission.Place
    ) async throws -> Response {
        let rawTicket = request.uri.queryParameters["ticket"]
        let principal = rawTicket == nil ? try await authenticate(request, context: context) : nil
        if let principal { try place.assign(to: principal.userID) }
        let query = try QueryParameters(of: request, allowed: ["variant", "ticket"])
        let variant = try query.variant()
        guard let id = context.parameters.get("id").flatMap({ RichID($0) }) else { throw ServiceError(.notFound) }
        let found =
            if let principal {
                try await notingRefusal(of: .readInbox, to: principal) {
                    try await backend.findContent(
                        of: id, variant: variant, accepting: request.headers[.acceptLanguage], for: principal)
                }
            } else {
                try await backend.redeem(ticket: query["ticket"] ?? "", for: id, variant: variant)
            }
        if let response = redirect(request, context, to: found) { return response }
        return try await download(found, request, context)
    }

    private func download(_ found: FoundContent, _ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let descriptor = found.descriptor
        let download = Download(
            mediaType: descriptor.mediaType, size: descriptor.byteCount, entityTag: EntityTag(descriptor.sha256),
            fileName: descriptor.fileName)
        if let response = try download.unchanged(for: request) { return response }
        let kept = try await contents.bytes(of: descriptor) { try await Self.bytes(of: try await backend.open(found)) }
        if let kept { return try download.response(to: request, context: context, bytes: kept) }
        let opened = try await backend.open(found)
        return try download.response(to: request, context: context) { opened.read($0) }
    }

    private static func bytes(of content: ReadableContent) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(Int(content.size))
        for try await chunk in content.read() { bytes.writeBytes(chunk) }
        return bytes
    }

    /// Sends the caller to the content store, where links are handed out. The rich push tutorial's routes are frozen and answer
    /// with bytes; a condition names the tag that this server gives, which the store does not know.
    private func redirect(_ request: Request, _ context: ServiceRequestContext, to found: FoundContent) -> Response? {
        let conditions: [HTTPField.Name] = [.ifMatch, .ifNoneMatch, .ifRange]
        guard !context.isHead, request.uri.path.hasPrefix(APIRoute.prefix + "/"),
            !conditions.contains(where: { request.headers[$0] != nil }),
            let link = backend.link(
                to: found, disposition: { ContentDisposition.attachment(fileName: found.descriptor.fileName) })
        else { return nil }
        return Response(status: .temporaryRedirect, headers: [.location: link, .cacheControl: "no-store"])
    }

    private func store(_ call: AuthenticatedRequest) async throws -> Response {
        _ = try call.query()
        let type = call.request.headers[.contentType].flatMap { HeaderParameters($0)?.value.lowercased() }
        guard type?.hasPrefix("multipart/") != true else {
            throw ServiceError(.unsupportedMediaType, "the body is the content itself; a form goes to \(APIRoute.notifications)")
        }
        extendDeadline(of: call)
        try refuseAnnouncedSize(of: call)
        let answer = try await backend.storeContent(
            declaredType: type, fileName: try call.uploadName(), chunks: call.request.chunks, for: call.principal)
        return try .json(answer, status: .created)
    }

    /// Spares a client the way of bytes that will not be kept.
    private func refuseAnnouncedSize(of call: AuthenticatedRequest) throws(ServiceError) {
        let limit = backend.contentLimit
        guard let size = call.request.headers[.contentLength].flatMap({ Int64($0) }), size > limit else { return }
        throw ServiceError(.contentTooLarge, "a content has at most \(limit) bytes")
    }

    /// Gives an upload its own time.
    func extendDeadline(of call: AuthenticatedRequest) {
        call.context.deadline.extend(to: options.clock.uptime + options.uploadDeadline)
    }
}

extension AuthenticatedRequest {
    /// The name of an uploaded file from `X-File-Name` (percent-escaped) or `Content-Disposition`, cleaned.
    fileprivate func uploadName() throws(ServiceError) -> String? {
        if let header = request.headers[.fileName] {
            guard let name = PercentEncoding.decode(header) else {
                throw ServiceError(.invalidHeader, "X-File-Name: expected UTF-8 with percent escapes")
            }
            return FileName.cleaned(name)
        }
        return request.headers[.contentDisposition].flatMap { ContentDisposition.fileName(in: $0) }.flatMap(FileName.cleaned)
    }
}

extension QueryParameters {
    /// The variant asked for; the original unless said otherwise.
    fileprivate func variant() throws(ServiceError) -> ContentVariant {
        guard let text = self["variant"] else { return .original }
        guard let variant = ContentVariant(rawValue: text) else {
            throw ServiceError(.invalidField, "query parameter 'variant': expected original or thumb")
        }
        return variant
    }
}

extension String {
    /// Everything but letters and digits escaped.
    fileprivate var queryEscaped: String { PercentEncoding.encode(self) }
}

/// The answer to `POST /api/v1/notifications/{id}/ticket`.
private struct TicketAnswer: Encodable {
    /// The path and query under which the content can be fetched without a header. Secret while it is valid.
    var path: String
    var expiresAt: Timestamp
}
