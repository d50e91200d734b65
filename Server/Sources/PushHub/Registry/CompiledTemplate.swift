import NotificationTemplates
import RichPushModel

/// A template that was read: what a push is filled from.
struct CompiledTemplate {
    let body: NotificationTemplate
    let headers: TemplateHeaders
    let expiry: TemplateExpiry?
    let priority: TemplatePriority?
    /// What the collapse ids of its alerts end with, so that two templates of a device do not replace each other's pushes.
    let mark: String

    /// Throws for what the language refuses. An expiry or priority that is empty counts as absent.
    init(_ template: DeviceTemplate, platform: Platform) throws(TemplateError) {
        headers = try TemplateHeaders(template.headers.map { ($0.name, $0.value) }, platform: platform)
        body = try NotificationTemplate(template.body, format: headers.bodyFormat)
        if let text = template.expiry, !text.isEmpty { expiry = try TemplateExpiry(text) } else { expiry = nil }
        if let text = template.priority, !text.isEmpty { priority = try TemplatePriority(text) } else { priority = nil }
        mark = Self.mark(template)
    }

    /// By the name; a template without one is told by its body.
    private static func mark(_ template: DeviceTemplate) -> String {
        // FNV-1a: short, and the same in every process. Nothing rests on it but which of two pushes replaces which.
        let hash = (template.name ?? template.body).utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return String(hash, radix: 16)
    }
}
