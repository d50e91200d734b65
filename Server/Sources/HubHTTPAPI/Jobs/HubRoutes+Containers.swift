import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
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
