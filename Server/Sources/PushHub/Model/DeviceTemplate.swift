import NotificationTemplates
import RichPushModel

/// What a device registered to be filled in by template sends (Reference/AzureNotificationHubs.md#4). Checked when it is stored;
/// rendered by the dispatcher.
public struct DeviceTemplate: Hashable, Sendable {
    /// A header of the push service; the value may be an expression.
    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The longest name (Reference/AzureNotificationHubs.md#6-1), in characters.
    public static let maximumName = TemplateLimits.templateName
    /// Unique on a device; absent for a template registration that was given none. A name that can be a tag is one, too.
    public var name: String?
    public var body: String
    /// In the order in which they were given.
    public var headers: [Header]
    /// An expression or a date (Reference/AzureNotificationHubs.md#4-3).
    public var expiry: String?
    /// An expression or a number (Reference/AzureNotificationHubs.md#4-3).
    public var priority: String?

    public init(name: String?, body: String, headers: [Header] = [], expiry: String? = nil, priority: String? = nil) {
        self.name = name
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.priority = priority
    }
}

extension DeviceTemplate {
    /// How many bytes of text it has.
    public var textBytes: Int {
        [name, body, expiry, priority].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}

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

    /// From the name; for a template without one, from its body.
    private static func mark(_ template: DeviceTemplate) -> String {
        // FNV-1a: short, and the same in every process. Nothing rests on it but which of two pushes replaces which.
        let hash = (template.name ?? template.body).utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return String(hash, radix: 16)
    }
}
