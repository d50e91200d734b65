import HTTPTypes
import HubProtocol
import Hummingbird
import NIOCore
import PushHub
import ServiceErrors

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
