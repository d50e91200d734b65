import NotificationTemplates

/// What a device registered to be filled in by template sends (Reference/AzureNotificationHubs.md#4). Checked when it is stored;
/// rendered by the dispatcher.
public struct DeviceTemplate: Hashable, Sendable {
    /// A header of the push service; the value may be an expression.
    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String

        /// Creates a header.
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

    /// Creates a template.
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
