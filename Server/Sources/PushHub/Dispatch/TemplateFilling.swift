import NotificationTemplates
import RichPushModel
import ServiceErrors

/// What the templates of one send are filled to, or its translations. Many devices have the same template, and the properties are the
/// same for all, so each template is read and filled once.
struct TemplateFilling {
    /// How many results are kept at most; beyond that those of earlier pages are made again.
    private static let bound = 1_000

    private var properties: TemplateProperties?
    private var renderings: [TemplateID: TemplateRendering] = [:]

    /// The results for the page's targets on platforms that something can be sent to.
    mutating func fill(_ page: SlicePage, of notification: NotificationID) -> [TemplateID: TemplateRendering] {
        guard page.message.format == .template else {
            return page.translations.mapValues { TemplateRendering(body: $0, page.message) }
        }
        if renderings.count > Self.bound { renderings = [:] }
        for (id, template) in page.templates where renderings[id] == nil {
            renderings[id] = rendering(template, page.message, notification)
        }
        return renderings
    }

    private mutating func rendering(
        _ template: DeviceTemplate, _ message: AcceptedMessage, _ notification: NotificationID
    ) -> TemplateRendering {
        // Both were checked when they were taken; what is refused now was stored by a version with other rules.
        guard let properties = properties(of: message),
            let compiled = try? CompiledTemplate(template, platform: message.platform)
        else { return .failed(.invalidFormat) }
        return TemplateRendering(compiled, properties, message, of: notification)
    }

    private mutating func properties(of message: AcceptedMessage) -> TemplateProperties? {
        if properties == nil {
            properties = try? TemplateProperties(json: String(decoding: message.body, as: UTF8.self))
        }
        return properties
    }
}

/// What a template made of the properties of a send, the same for every device that has the template.
struct RenderedPush: Hashable {
    var body: [UInt8]
    var pushType: String
    var priority: Int
    /// Seconds since 1970; 0 for now or never; absent means no such header.
    var expiration: Int64?
    var collapseID: String?
    var topic: String?

    /// Whether it has expired.
    func isOver(at now: Timestamp) -> Bool { expiration.map { $0 != 0 && $0 <= now.seconds } ?? false }
}

/// A push, or why there is none.
enum TemplateRendering: Hashable {
    case push(RenderedPush)
    case failed(TargetOutcome)
}

extension TemplateRendering {
    /// A translation: the same push with another body.
    init(body: [UInt8], _ message: AcceptedMessage) {
        guard body.count <= PushMessage.largestBody(ofType: message.pushType) else {
            self = .failed(.tooLarge)
            return
        }
        self = .push(
            RenderedPush(
                body: body, pushType: message.pushType, priority: message.priority, expiration: message.expiresAt?.seconds,
                collapseID: message.collapseID, topic: message.topic))
    }

    /// Fills a template: what its headers say, then what it says of expiry and priority, then what the send says, else
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
        body = try template.body.render(properties, limit: PushMessage.largestBody(ofType: "voip"))
        guard message.platform.isAPNs else {
            self = try Self.elsewhere(body, template, properties, message, notification)
            return
        }
        var headers: [String: String] = [:]
        for header in try template.headers.render(properties) { headers[header.name.lowercased()] = header.value }
        pushType = try Self.pushType(headers, message, body)
        let limit = PushMessage.largestBody(ofType: pushType)
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

    /// For another push service than Apple's. The template's headers are for Apple's and Windows' alone.
    private static func elsewhere(
        _ body: [UInt8], _ template: CompiledTemplate, _ properties: TemplateProperties, _ message: AcceptedMessage,
        _ notification: NotificationID
    ) throws -> RenderedPush {
        let priority = try template.priority?.render(properties).map { Int($0) }
        return RenderedPush(
            body: body, pushType: "", priority: priority ?? (message.priority == 0 ? 10 : message.priority),
            expiration: try template.expiry?.render(properties)?.seconds ?? message.expiresAt?.seconds,
            collapseID: message.collapseID.map { $0 == notification.text ? "\($0).\(template.mark)" : $0 })
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
