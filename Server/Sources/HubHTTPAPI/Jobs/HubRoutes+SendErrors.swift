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
        // Before the head leaves, so that a database that is away is a status and not a broken answer.
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
