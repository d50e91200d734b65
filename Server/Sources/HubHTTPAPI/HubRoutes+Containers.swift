import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
import Logging
import NIOCore
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import WireText

/// The containers of this node, in the form of a blob store: what a client of jobs puts in and takes out with its signed link.
extension HubRoutes {
    /// The label of a path below `/$containers`, `nil` where there are no files.
    func containerTemplate(_ path: String) -> String? {
        guard options.files != nil else { return nil }
        return (try? ContainerPath(path))?.template ?? "/$containers/*"
    }

    func answerContainer(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        guard let files = options.files else { throw ServiceError(.unknownRoute) }
        let path = try ContainerPath(request.uri.path)
        let query = HubQuery(request.uri.query)
        guard path.container != nil else { return try await makeContainer(request, path, files, context) }
        let links = try await links(request, path, files)
        if path.container == .sendErrors { return try await sendErrors(request, context, links, path, query) }
        switch (request.method, path.blob) {
        case (.get, nil):
            try permit(links, query, path, .list)
            return try await list(links, path, query)
        case (.put, nil):
            // A container is there as soon as something lies in it.
            try permit(links, query, path, .write)
            return Response(status: .created)
        case (.put, _?):
            try permit(links, query, path, .write)
            return try await put(request, context, links, path, query)
        case (.get, _?):
            try permit(links, query, path, .read)
            return try await get(request, context, links, path)
        case (.delete, _?):
            try permit(links, query, path, .write)
            guard try await files.jobs.files.remove(try Self.blob(links, path)) else { throw Self.unknownFile }
            return Response(status: .accepted)
        default: throw ServiceError(.methodNotAllowed)
        }
    }

    static let unknownFile = ServiceError(.notFound, "There is no such file in the container")

    /// Makes a name and signs a link for it; asks for the right that jobs need.
    private func makeContainer(
        _ request: Request, _ path: ContainerPath, _ files: HubFiles, _ context: ServiceRequestContext
    ) async throws -> Response {
        guard request.method == .post,
            case .route(let route) = HubRoute.match(method: "POST", path: "/\(PercentEncoding.encode(path.hub))/jobs")
        else { throw ServiceError(.methodNotAllowed) }
        let call = try await admitted(request, route, context)
        _ = try call.hub()
        guard let served = call.served else { throw ServiceError(.notFound) }
        let link = call.links(files, served).link(to: .random(), allowing: [.read, .write, .list])
        return HubAnswer.body(link, as: HubAnswer.text, .submitJob, headers: [.location: link])
    }

    private func links(_ request: Request, _ path: ContainerPath, _ files: HubFiles) async throws -> ContainerLinks {
        guard let served = try await directory.hub(named: path.hub) else {
            // As for a link that is not valid: who has none learns nothing about hubs.
            throw ServiceError(.unauthenticated, ContainerSigner.Fault.notAuthentic.description)
        }
        let authority = request.head.authority ?? ""
        return ContainerLinks(
            files: files, hub: served, authority: authority,
            origin: options.origin.base(for: authority, isSecure: request.cameOverTLS), hosts: options.publicHosts,
            now: options.clock.now)
    }

    private func permit(
        _ links: ContainerLinks, _ query: HubQuery, _ path: ContainerPath, _ needed: ContainerPermission
    ) throws(ServiceError) {
        do throws(ContainerSigner.Fault) {
            try links.check(query, path, needed)
        } catch {
            throw ServiceError(.unauthenticated, error.description)
        }
    }

    private static func blob(_ links: ContainerLinks, _ path: ContainerPath) throws(ServiceError) -> BlobReference {
        guard let container = path.container, let blob = path.blob else { throw unknownFile }
        return BlobReference(hub: links.hub.hub.id, container: container, name: blob)
    }

    private func put(
        _ request: Request, _ context: ServiceRequestContext, _ links: ContainerLinks, _ path: ContainerPath,
        _ query: HubQuery
    ) async throws -> Response {
        if let part = query["comp"] {
            throw ServiceError(.invalidField, "comp=\(part.prefix(20)): put the file in one request, not in blocks")
        }
        guard path.container != .feedback else { throw ServiceError(.forbidden, "the feedback container takes no files") }
        context.deadline.extend(to: options.clock.uptime + links.files.uploadDeadline)
        let upload = try await links.files.jobs.files.put(try Self.blob(links, path), limit: links.files.fileLimit)
        for try await chunk in request.chunks { try await upload.write(chunk) }
        try await upload.finish()
        return Response(status: .created)
    }

    private func get(
        _ request: Request, _ context: ServiceRequestContext, _ links: ContainerLinks, _ path: ContainerPath
    ) async throws -> Response {
        guard let file = try await links.files.jobs.files.open(try Self.blob(links, path)) else { throw Self.unknownFile }
        // Clients of blob stores ask for ranges with a header of their own.
        var head = request.head
        if let name = HTTPField.Name("x-ms-range"), let range = request.headers[name] { head.headerFields[.range] = range }
        let request = Request(head: head, body: request.body)
        let download = Download(
            mediaType: "application/octet-stream", size: file.size, entityTag: EntityTag(Self.tag(file.size, file.writtenAt)),
            fileName: path.blob.map { String($0.text.split(separator: "/").last ?? "") })
        var response = try download.response(to: request, context: context) { Self.pieces(of: file, in: $0) }
        response.headers[.lastModified] = HTTPDate.text(file.writtenAt)
        return response
    }

    private static func tag(_ size: Int64, _ moment: Timestamp) -> String { "\(size)-\(moment.milliseconds)" }

    /// The bytes of a range, a piece at a time, as the client takes them.
    private static func pieces(of file: any BlobReading, in range: Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error> {
        let reading = PieceReading(file: file, range: range)
        return AsyncThrowingStream { try await reading.next() }
    }
}

/// The lists of containers.
extension HubRoutes {
    /// The most files of a page, as blob stores have it.
    private static let listLimit = 5000

    func list(
        _ links: ContainerLinks, _ path: ContainerPath, _ query: HubQuery
    ) async throws -> Response {
        guard let container = path.container else { throw ServiceError(.unknownRoute) }
        if container == .feedback { try await links.files.jobs.layDownFeedback(of: links.hub.hub) }
        let limit = min(query["maxresults"].flatMap { Int($0) }.map { max(1, $0) } ?? Self.listLimit, Self.listLimit)
        let (prefix, marker) = (Self.given(query["prefix"]), Self.given(query["marker"]))
        let found = try await links.files.jobs.files.list(
            container, of: links.hub.hub.id, prefix: prefix ?? "", after: marker.flatMap(BlobName.init), limit: limit + 1)
        let page = found.prefix(limit)
        let listing = ContainerListing(
            container: container.text, prefix: prefix, marker: marker,
            blobs: page.map { file in
                ContainerListing.Blob(
                    name: file.name.text, size: file.size, writtenAt: file.writtenAt,
                    etag: "\(file.size)-\(file.writtenAt.milliseconds)")
            }, nextMarker: found.count > limit ? page.last?.name.text : nil)
        return Response(
            status: .ok, headers: [.contentType: HubAnswer.xml],
            body: ResponseBody(byteBuffer: ByteBuffer(string: listing.answer())))
    }

    private static func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
}

/// The errors of one send as a file of lines, each one document of feedback (Reference/AzureNotificationHubs.md#2-9, #2-11). Nothing is stored: the file
/// is read from the database page by page, as fast as the client takes it.
extension HubRoutes {
    func sendErrors(
        _ request: Request, _ context: ServiceRequestContext, _ links: ContainerLinks, _ path: ContainerPath,
        _ query: HubQuery
    ) async throws -> Response {
        guard request.method == .get else { throw ServiceError(.methodNotAllowed) }
        guard let id = Self.send(named: path.blob) else {
            throw ServiceError(.unauthenticated, ContainerSigner.Fault.notAuthentic.description)
        }
        do throws(ContainerSigner.Fault) {
            try links.check(query, errorsOf: id)
        } catch {
            throw ServiceError(.unauthenticated, error.description)
        }
        let hub = links.hub.hub
        guard let telemetry = try await hub.telemetry(of: id) else { throw Self.unknownFile }
        var pages = hub.errors(of: telemetry)
        // Read before the head is sent, so that an unavailable database gives a status and not a broken answer.
        let first = try await pages.next()
        return Response(
            status: .ok, headers: [.contentType: HubAnswer.xml, .cacheControl: "private, no-store"],
            body: Self.lines(of: id, first, then: pages, logger: context.logger))
    }

    private static func send(named blob: BlobName?) -> NotificationID? {
        guard let text = blob?.text, text.hasSuffix(HubFiles.errorSuffix) else { return nil }
        return NotificationID(String(text.dropLast(HubFiles.errorSuffix.count)))
    }

    private static func lines(
        of id: NotificationID, _ first: [SendError], then pages: SendErrorPages, logger: Logger
    ) -> ResponseBody {
        ResponseBody { writer in
            var (page, rest) = (first, pages)
            do {
                while !page.isEmpty {
                    let text = page.map { PnsFeedback($0, of: id).document() + "\n" }.joined()
                    try await writer.write(ByteBuffer(string: text))
                    page = try await rest.next()
                }
            } catch let error as ServiceError {
                // The head has left: an answer that breaks off shows the client that lines are missing.
                logger.warning("Errors of a send broke off", metadata: [LogKey.errorCode.rawValue: .string(error.code.rawValue)])
                throw error
            }
            try await writer.finish(nil)
        }
    }
}

/// Reads a range of a file piece by piece.
private actor PieceReading {
    private static let size: Int64 = 64 * 1024
    private let file: any BlobReading
    private var rest: Range<Int64>

    init(file: any BlobReading, range: Range<Int64>) {
        self.file = file
        rest = range
    }

    /// The next piece, `nil` at the end. One caller asks, one piece after the other.
    func next() async throws -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        let piece = rest.lowerBound..<min(rest.upperBound, rest.lowerBound + Self.size)
        rest = piece.upperBound..<rest.upperBound
        return try await file.read(at: piece.lowerBound, count: Int(piece.count))
    }
}
