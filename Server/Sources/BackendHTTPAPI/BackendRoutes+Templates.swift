import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// Message templates.
extension BackendRoutes {
    func addTemplateRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "message-templates", for: .readTemplates, to: router) { call in
            let query = try call.query("after", "limit")
            let limit = try query.number("limit", in: 1...RichPushBackend.templatePageLimit)
            return try .json(await backend.messageTemplates(after: query["after"], limit: limit, for: call.principal))
        }
        add(.get, "message-templates/{name}", for: .readTemplates, to: router) { call in
            let version = try call.query("version").number("version", in: 1...Int(Int32.max))
            return try .json(
                await backend.messageTemplate(call.templateName(), version: version, for: call.principal))
        }
        add(.put, "message-templates/{name}", for: .changeTemplates, to: router) { call in
            _ = try call.query()
            let name = try call.templateName()
            let body = try await call.request.readJSON(
                MessageTemplateRequest.self, known: FieldNames.template, limits: options.json)
            let template = try await backend.putMessageTemplate(name, body, for: call.principal)
            return try .json(template, status: template.version == 1 ? .created : .ok)
        }
        add(.delete, "message-templates/{name}", for: .changeTemplates, to: router) { call in
            _ = try call.query()
            try await backend.removeMessageTemplate(call.templateName(), for: call.principal)
            return Response(status: .noContent)
        }
        add(.post, "message-templates/{name}/preview", for: .readTemplates, to: router) { call in
            _ = try call.query()
            let name = try call.templateName()
            let body = try await call.request.readJSON(PreviewBody.self, known: FieldNames.preview, limits: options.json)
            let use = TemplateUse(name: name, version: body.version, values: body.values)
            return try .json(await backend.preview(use, for: call.principal))
        }
    }
}

/// The body of `POST /api/v1/message-templates/{name}/preview`.
private struct PreviewBody: Decodable {
    var version: Int?
    var values: [String: String]?
}

extension AuthenticatedRequest {
    fileprivate func templateName() throws(ServiceError) -> String {
        guard let name = context.parameters.get("name") else { throw ServiceError(.notFound) }
        return name
    }
}

extension FieldNames {
    /// `MessageTemplateRequest`.
    fileprivate static let template = Set(send.map { "notification.\($0)" })
        .union(["notification", "defaults", "defaults.*", "replaces"])
    /// `PreviewBody`.
    fileprivate static let preview: Set<String> = ["version", "values", "values.*"]
}
