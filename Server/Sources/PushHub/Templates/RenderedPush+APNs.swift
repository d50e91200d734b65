import NotificationTemplates
import RichPushModel
import ServiceErrors

extension TemplateRendering {
    /// Fills a template for APNs: what its headers say, then what it says of expiry and priority, else what the body shows
    /// (Azure reference 4.3).
    init(_ template: CompiledTemplate, _ properties: TemplateProperties, _ message: AcceptedMessage) {
        do {
            self = .push(try RenderedPush(template, properties, message))
        } catch TemplateRenderingError.tooLarge {
            self = .failed(.tooLarge)
        } catch let error as ServiceError where error.code == .payloadTooLarge {
            self = .failed(.tooLarge)
        } catch {
            self = .failed(.invalidFormat)
        }
    }
}

extension RenderedPush {
    /// Throws `TemplateRenderingError`, and `ServiceError` for what no header can say.
    fileprivate init(_ template: CompiledTemplate, _ properties: TemplateProperties, _ message: AcceptedMessage) throws {
        body = try template.body.render(properties, limit: MessageCheck.largestBody(ofType: "voip"))
        var headers: [String: String] = [:]
        for header in try template.headers.render(properties) { headers[header.name.lowercased()] = header.value }
        pushType = try Self.pushType(headers, body)
        let limit = MessageCheck.largestBody(ofType: pushType)
        guard body.count <= limit else { throw TemplateRenderingError.tooLarge(limit: limit) }
        priority = try Self.priority(headers, try template.priority?.render(properties), pushType)
        let expiry = try template.expiry?.render(properties)?.seconds ?? message.expiresAt?.seconds
        expiration = headers["apns-expiration"].flatMap { Int64($0) } ?? expiry
        topic = headers["apns-topic"]
        if let topic { try HeaderText.checkTopic(topic) }
        collapseID = headers["apns-collapse-id"]
        if let collapseID { try HeaderText.checkCollapseID(collapseID) }
        if collapseID == nil, pushType == "alert" { collapseID = message.collapseID.map { "\($0).\(template.mark)" } }
    }

    private static func pushType(_ headers: [String: String], _ body: [UInt8]) throws -> String {
        guard let given = headers["apns-push-type"] else { return try PushBody(body).isSilent ? "background" : "alert" }
        guard MessageCheck.pushTypes.contains(given) else { throw TemplateRenderingError.malformedHeader("apns-push-type") }
        return given
    }

    /// A background push may not have 10: it gets what it may have.
    private static func priority(_ headers: [String: String], _ own: UInt8?, _ pushType: String) throws -> Int {
        let most = pushType == "background" ? 5 : 10
        guard let given = headers["apns-priority"].flatMap({ Int($0) }) ?? own.map({ Int($0) }) else { return most }
        guard [1, 5, 10].contains(given) else { throw TemplateRenderingError.malformedPriority }
        return min(given, most)
    }
}
