import AppBackend
import HTTPService
import RichPushModel
import ServiceErrors

/// A send whose content comes in the same request: part `notification` (a `SendRequest`), and parts `content` and `thumb`.
/// The parts may come in any order; bytes go to the store as they arrive, and what no send used is swept away later.
struct MultipartSend {
    let routes: BackendRoutes
    let call: AuthenticatedRequest

    /// Reads all parts, then sends. Returns the answer, and the audience in the sender's words.
    func send() async throws -> (SendAnswer, audience: String?) {
        let key = try call.idempotencyKey()
        routes.extendDeadline(of: call)
        let reader = try MultipartReader(call.request)
        var request: SendRequest?
        var stored: [String: ContentAnswer] = [:]
        while let head = try await reader.nextPart() {
            switch head.name {
            case "notification":
                guard request == nil else { throw twice(head.name) }
                let bytes = try await reader.readPart(named: head.name, limit: routes.options.json.byteCount)
                request = try JSONFields.decode(
                    SendRequest.self, from: bytes, known: FieldNames.send, depthLimit: routes.options.json.depth)
            case "content", "thumb":
                guard stored[head.name] == nil else { throw twice(head.name) }
                stored[head.name] = try await routes.backend.storeContent(
                    declaredType: head.mediaType, fileName: head.fileName.flatMap(FileName.cleaned), chunks: reader.chunks,
                    for: call.principal)
            default:
                throw ServiceError(.invalidField, "a part is not known: expected notification, content or thumb")
            }
        }
        guard var request else { throw ServiceError(.invalidField, "the part 'notification' is missing") }
        try attach(stored["content"]?.id, to: &request.contentID, field: "contentId", part: "content")
        try attach(stored["thumb"]?.id, to: &request.thumbID, field: "thumbId", part: "thumb")
        var answer = try await routes.backend.send(request, idempotencyKey: key, for: call.principal)
        if stored.values.contains(where: { $0.metadataRemoved == true }) { answer.metadataRemoved = true }
        return (answer, request.audience)
    }

    private func attach(_ stored: String?, to field: inout String?, field name: String, part: String) throws(ServiceError) {
        guard let stored else { return }
        guard field == nil else { throw ServiceError(.invalidField, "field '\(name)' and the part '\(part)' exclude each other") }
        field = stored
    }

    private func twice(_ part: String) -> ServiceError { ServiceError(.malformedMultipart, "the part '\(part)' is given twice") }
}
