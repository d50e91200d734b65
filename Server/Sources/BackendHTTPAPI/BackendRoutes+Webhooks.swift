import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// Webhooks, and what was delivered to them.
extension BackendRoutes {
    func addWebhookRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "webhooks", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            return try .json(await backend.webhooks())
        }
        add(.post, "webhooks", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            let answer = try await backend.createWebhook(try await webhookRequest(call), by: call.principal)
            var response = try Response.secret(answer, status: .created)
            response.headers[.location] = "\(APIRoute.prefix)/webhooks/\(answer.id)"
            return response
        }
        add(.get, "webhooks/{id}", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            return try .json(await backend.webhook(call.objectID()))
        }
        add(.put, "webhooks/{id}", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            return try .json(await backend.changeWebhook(id, to: try await webhookRequest(call), by: call.principal))
        }
        add(.delete, "webhooks/{id}", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            try await backend.removeWebhook(call.objectID(), by: call.principal)
            return Response(status: .noContent)
        }
        addWebhookActRoutes(to: router)
    }

    private func addWebhookActRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "webhooks/{id}/roll", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            let roll = try await call.request.readJSON(KeyRoll.self, known: FieldNames.keyRoll, limits: options.json)
            let overlap = Duration.seconds(roll.overlapSeconds ?? 86_400)
            return try .secret(await backend.rollWebhookSecret(id, overlap: overlap, by: call.principal), status: .created)
        }
        add(.post, "webhooks/{id}/ping", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            return try .json(await backend.pingWebhook(call.objectID()), status: .accepted)
        }
        add(.post, "webhooks/{id}/replay", for: .manageWebhooks, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            let replay = try await call.request.readJSON(
                WebhookReplayRequest.self, known: FieldNames.webhookReplay, limits: options.json)
            return try .json(await backend.replay(replay, of: id, by: call.principal), status: .accepted)
        }
        add(.get, "webhooks/{id}/deliveries", for: .manageWebhooks, to: router) { call in
            let query = try call.query("state", "before", "limit")
            let limit = try query.number("limit", in: 1...RichPushBackend.deliveryPageLimit)
            return try .json(
                await backend.deliveries(
                    of: call.objectID(), state: query["state"], before: query["before"], limit: limit))
        }
    }

    private func webhookRequest(_ call: AuthenticatedRequest) async throws -> WebhookRequest {
        try await call.request.readJSON(WebhookRequest.self, known: FieldNames.webhook, limits: options.json)
    }
}

extension FieldNames {
    /// `WebhookRequest`.
    fileprivate static let webhook: Set<String> = ["url", "events", "description", "enabled"]
    /// `WebhookReplayRequest`.
    fileprivate static let webhookReplay: Set<String> = ["event", "since", "failedOnly"]
}
