import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

/// The bytes that a phone fetched for a notification, for the elements of the page: whole, in part, or not again.
struct PhoneMediaResponse: Sendable {
    let phone: any PagePhone

    func response(to request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let richID = RichID(try context.parameters.require("richId")) else {
            throw ServiceError(.notFound, "not a rich notification id")
        }
        let notice = try QueryParameters(of: request, allowed: ["notification"])["notification"]
        guard let media = await phone.media(for: richID, attachmentOf: notice), let file = StoredFile(path: media.file.path)
        else {
            throw ServiceError(.notFound, "the phone holds no content of this notification")
        }
        let download = Download(
            mediaType: media.mediaType, size: file.size, entityTag: EntityTag(file.version), fileName: media.fileName)
        return try download.response(to: request, context: context) { range in file.chunks(of: range) }
    }
}
