import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors
import WireText

extension BackendRoutes {
    func addSendingRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "notifications", for: .send, to: router) { call in try await send(call) }
        add(.delete, "notifications/{id}", for: .recall, to: router) { call in
            _ = try call.query()
            try await backend.recall(call.richID(), for: call.principal)
            return Response(status: .noContent)
        }
    }

    /// One path for three generations of callers, distinguished by the body: none is the rich push tutorial's button, a JSON string
    /// the Notify Users tutorial's, an object or a form the product's own.
    private func send(_ call: AuthenticatedRequest) async throws -> Response {
        let query = try call.query("pns", "to_tag")
        // Before the look at the length: a form without a byte is a client's mistake, never the rich push tutorial's button.
        if call.request.isMultipart {
            try query.refuseAddress()
            let (answer, audience) = try await MultipartSend(routes: self, call: call).send()
            return try accepted(answer, to: audience, call, status: .created)
        }
        guard call.request.announcesBody else { return try await sendDefaultPicture(call, query: query) }
        let bytes: [UInt8]
        do {
            bytes = try await call.request.jsonBytes(limits: options.json)
        } catch let error as ServiceError where error.code == .unsupportedMediaType {
            throw ServiceError(.unsupportedMediaType, "Content-Type must be application/json or multipart/form-data")
        }
        guard !bytes.isEmpty else { return try await sendDefaultPicture(call, query: query) }
        switch try JSONScanner.scan(bytes, depthLimit: options.json.depth) {
        case .string:
            return try await sendText(bytes, call: call, query: query)
        case .object:
            try query.refuseAddress()
            let request = try JSONFields.decode(
                SendRequest.self, from: bytes, known: FieldNames.send, depthLimit: options.json.depth)
            let answer = try await backend.send(request, idempotencyKey: call.idempotencyKey(), for: call.principal)
            return try accepted(answer, to: request.audience, call, status: .created)
        case .list, .number, .boolean, .null:
            throw ServiceError(.invalidField, "the body: expected a string or an object")
        }
    }

    private func sendDefaultPicture(_ call: AuthenticatedRequest, query: QueryParameters) async throws -> Response {
        guard query["pns"] == nil, query["to_tag"] == nil else {
            throw ServiceError(.invalidField, "the body: expected a string, the message to send")
        }
        let answer = try await backend.sendDefaultPicture(idempotencyKey: call.idempotencyKey(), for: call.principal)
        return try accepted(answer, to: nil, call)
    }

    /// The answer to a send that is stored, and its line in the log: it leads from the number of the request to the send.
    private func accepted(
        _ answer: SendAnswer, to audience: String?, _ call: AuthenticatedRequest, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        call.context.logger.info(
            "A send was accepted",
            metadata: [
                "rich_id": "\(answer.id)", "notification_id": "\(answer.trackingID)", "user": "\(call.principal.name)",
                "audience": "\(audience ?? "own devices")",
            ])
        return try .json(answer, status: status)
    }

    private func sendText(_ bytes: [UInt8], call: AuthenticatedRequest, query: QueryParameters) async throws -> Response {
        guard let platform = query["pns"], let user = query["to_tag"] else {
            throw ServiceError(.invalidField, "a message alone needs the query parameters 'pns' and 'to_tag'")
        }
        let text = try JSONFields.decode(String.self, from: bytes)
        let answer = try await backend.sendText(
            text, platform: platform, toUser: user, idempotencyKey: call.idempotencyKey(), for: call.principal)
        return try accepted(answer, to: user, call)
    }
}

extension Request {
    fileprivate var isMultipart: Bool {
        headers[.contentType].flatMap { HeaderParameters($0) }?.value.lowercased() == "multipart/form-data"
    }
}

extension QueryParameters {
    /// The Notify Users tutorial's address has no meaning beside a body that names its own audience.
    fileprivate func refuseAddress() throws(ServiceError) {
        guard self["pns"] == nil, self["to_tag"] == nil else {
            throw ServiceError(.invalidField, "'pns' and 'to_tag' go with a message alone; name an audience in the body")
        }
    }
}

/// A send whose content comes in the same request: part `notification` (a `SendRequest`), and parts `content` and `thumb`.
/// The parts may come in any order; bytes go to the store as they arrive, and what no send used is swept away later.
private struct MultipartSend {
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

extension BackendRoutes {
    func addInboxRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "notifications", for: .readInbox, to: router) { call in
            let query = try call.query("before", "since", "limit")
            let limit = try query.number("limit", in: 1...100)
            return try .json(
                await backend.inbox(
                    before: query["before"], since: query["since"], limit: limit,
                    accepting: call.request.headers[.acceptLanguage], for: call.principal))
        }
        add(.get, "notifications/{id}/details", for: .readInbox, to: router) { call in
            _ = try call.query()
            let accepting = call.request.headers[.acceptLanguage]
            return try .json(await backend.details(of: call.richID(), accepting: accepting, for: call.principal))
        }
        add(.patch, "notifications/{id}", for: .markRead, to: router) { call in
            _ = try call.query()
            let id = try call.richID()
            let state = try await call.request.readJSON(ReadState.self, known: FieldNames.readState, limits: options.json)
            try await backend.setRead(state.read, of: id, for: call.principal)
            return Response(status: .noContent)
        }
        add(.post, "notifications/{id}/replies", for: .reply, to: router) { call in
            _ = try call.query()
            let id = try call.richID()
            let reply = try await call.request.readJSON(Reply.self, known: FieldNames.reply, limits: options.json)
            try await backend.reply(reply, to: id, for: call.principal)
            return Response(status: .noContent)
        }
        add(.post, "receipts", for: .postReceipts, to: router) { call in
            _ = try call.query()
            let batch = try await call.request.readJSON(ReceiptBatch.self, known: FieldNames.receipts, limits: options.json)
            try await backend.record(batch, for: call.principal)
            return Response(status: .noContent)
        }
    }
}

/// The fields of the request bodies. One that is not here is refused, so that a typing error does not silently change a send.
enum FieldNames {
    /// `SendRequest`.
    static let send = request.union(translation.map { "translations.\($0)" })
    private static let request: Set<String> = [
        "audience", "title", "subtitle", "message", "altText", "kind", "style", "preview", "contentId", "thumbId", "link",
        "coupon", "coupon.code", "coupon.headline", "coupon.terms", "coupon.validUntil", "expiresAt", "collapseId", "sound",
        "badge", "thread", "pushesPerSecond", "transactional", "frequencyCap", "id", "translations", "split", "split.key",
        "split.groups", "split.groups.name", "split.groups.percent",
        "template", "template.name", "template.version", "template.values", "template.values.*",
    ]
    private static let translation: Set<String> = [
        "language", "group", "title", "subtitle", "message", "altText", "contentId", "thumbId", "link", "coupon",
        "coupon.code", "coupon.headline", "coupon.terms", "coupon.validUntil",
    ]
    /// `AudienceQuestion`.
    static let audience: Set<String> = ["audience"]
    /// `ReceiptBatch`.
    static let receipts: Set<String> = ["receipts", "receipts.id", "receipts.kind", "receipts.action", "receipts.at"]
    /// `InstallationUpdate`.
    static let installation: Set<String> = [
        "platform", "handle", "tags", "environment", "topic", "locale", "languages", "sealingKey", "appVersion", "systemVersion",
        "timeZone",
        "permission", "capabilities",
    ]
    /// `RegistrationBody`.
    static let registration: Set<String> = ["Platform", "Handle", "Tags"]
    /// `Reply`.
    static let reply: Set<String> = ["id", "text"]
    /// `ReadState`.
    static let readState: Set<String> = ["read"]
    /// `UserCreation`.
    static let newUser: Set<String> = ["name", "password", "role", "tags"]
    /// `UserRow`.
    static let userRow: Set<String> = ["name", "role", "tags"]
    /// `UserChange`.
    static let userChange: Set<String> = ["password", "role", "disabled", "tags", "quietHours", "secondFactor"]
    /// `ServiceKeyRequest`.
    static let key: Set<String> = ["name", "scopes", "expiresAt", "networks", "requestsPerMinute"]
    /// `SignInTokenRequest`.
    static let signInToken: Set<String> = ["user", "installation", "tags", "lifetimeSeconds", "createsUser"]
    /// `HubCreation`.
    static let newHub: Set<String> = ["name", "metadata", "registrationSeconds", "allowsProtectedTags"]
    /// `HubCredentialRequest`.
    static let hubCredential: Set<String> = [
        "key", "keyId", "teamId", "certificate", "password", "topic", "environment",
    ]
    /// `HubKeyRoll`.
    static let hubKeyRoll: Set<String> = ["key"]
    /// `KeyRoll`.
    static let keyRoll: Set<String> = ["overlapSeconds"]
}

/// The body of `PATCH /api/v1/notifications/{id}`.
struct ReadState: Decodable {
    var read: Bool
}
