import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors
import WireText

extension BackendRoutes {
    func addSendingRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "notifications", to: router) { call in try await send(call) }
        add(.delete, "notifications/{id}", to: router) { call in
            _ = try call.query()
            try await backend.recall(call.richID(), for: call.principal)
            return Response(status: .noContent)
        }
        add(.get, "notifications/{id}/status", to: router) { call in
            _ = try call.query()
            return try .json(await backend.status(of: call.richID(), for: call.principal))
        }
        add(.get, "sends", to: router) { call in
            let query = try call.query("before", "limit")
            let limit = try query.number("limit", in: 1...RichPushBackend.sendPageLimit)
            return try .json(await backend.sends(before: query["before"], limit: limit, for: call.principal))
        }
    }

    /// One path for three generations of callers, told apart by the body: none is the rich push tutorial's button, a JSON string
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
