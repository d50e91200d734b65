import NotificationTemplates
import RichPushModel

/// What the templates of one send are filled to. Many devices have the same template, and the properties are the same for
/// all, so each template is read and filled once.
struct TemplateFilling {
    /// How many results are kept at most; beyond that those of earlier pages are made again.
    private static let bound = 1_000

    private var properties: TemplateProperties?
    private var renderings: [TemplateID: TemplateRendering] = [:]

    /// The results for the page's targets on platforms that something can be sent to.
    mutating func fill(_ page: SlicePage, of notification: NotificationID) -> [TemplateID: TemplateRendering] {
        guard page.message.format == .template else { return [:] }
        if renderings.count > Self.bound { renderings = [:] }
        for (id, template) in page.templates where renderings[id] == nil {
            renderings[id] = rendering(template, page.message, notification)
        }
        return renderings
    }

    /// Every template is read as one of APNs: no other is ever sent.
    private mutating func rendering(
        _ template: DeviceTemplate, _ message: AcceptedMessage, _ notification: NotificationID
    ) -> TemplateRendering {
        // Both were checked when they were taken; what is refused now was stored by a version with other rules.
        guard let properties = properties(of: message),
            let compiled = try? CompiledTemplate(template, platform: .apns)
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
