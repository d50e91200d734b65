import NotificationTemplates
import RichPushModel
import ServiceErrors

extension TemplateRendering {
    /// Fills a template for APNs: what its headers say, then what it says of expiry and priority, then what the send says, else
    /// what the body shows (Reference/AzureNotificationHubs.md#4-3 and #2-7).
    init(
        _ template: CompiledTemplate, _ properties: TemplateProperties, _ message: AcceptedMessage,
        of notification: NotificationID
    ) {
        do {
            self = .push(try RenderedPush(template, properties, message, notification))
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
    fileprivate init(
        _ template: CompiledTemplate, _ properties: TemplateProperties, _ message: AcceptedMessage,
        _ notification: NotificationID
    ) throws {
        body = try template.body.render(properties, limit: MessageCheck.largestBody(ofType: "voip"))
        var headers: [String: String] = [:]
        for header in try template.headers.render(properties) { headers[header.name.lowercased()] = header.value }
        pushType = try Self.pushType(headers, message, body)
        let limit = MessageCheck.largestBody(ofType: pushType)
        guard body.count <= limit else { throw TemplateRenderingError.tooLarge(limit: limit) }
        priority = try Self.priority(headers, try template.priority?.render(properties), message, pushType)
        let expiry = try template.expiry?.render(properties)?.seconds ?? message.expiresAt?.seconds
        expiration = headers["apns-expiration"].flatMap { Int64($0) } ?? expiry
        topic = headers["apns-topic"]
        if let topic { try HeaderText.checkTopic(topic) }
        collapseID = headers["apns-collapse-id"]
        if let collapseID { try HeaderText.checkCollapseID(collapseID) }
        if collapseID == nil, let common = message.collapseID {
            // One that the sender chose is theirs, for whatever it is to replace; one that was filled in must not replace what
            // another template of the device made of the same send.
            collapseID = common != notification.text ? common : pushType == "alert" ? "\(common).\(template.mark)" : nil
        }
    }

    private static func pushType(_ headers: [String: String], _ message: AcceptedMessage, _ body: [UInt8]) throws -> String {
        let body = try PushBody(body)
        let given = headers["apns-push-type"] ?? message.pushType
        guard !given.isEmpty else { return body.isSilent ? "background" : "alert" }
        guard MessageCheck.pushTypes.contains(given), given != "background" || !body.alerts else {
            throw TemplateRenderingError.malformedHeader("apns-push-type")
        }
        return given
    }

    /// A background push may not have 10: it gets what it may have.
    private static func priority(
        _ headers: [String: String], _ own: UInt8?, _ message: AcceptedMessage, _ pushType: String
    ) throws -> Int {
        let most = pushType == "background" ? 5 : 10
        let common = message.priority == 0 ? nil : message.priority
        guard let given = headers["apns-priority"].flatMap({ Int($0) }) ?? own.map({ Int($0) }) ?? common else { return most }
        guard [1, 5, 10].contains(given) else { throw TemplateRenderingError.malformedPriority }
        return min(given, most)
    }
}
