/// The bounds of templates and of what fills them: those of the hub protocol (Reference/AzureNotificationHubs.md#4-2, #4-3 and
/// #6-1), and some that keep any input cheap.
public enum TemplateLimits {
    /// Bytes of a template's body, as large as the body of a send.
    public static let bodyBytes = 65_536
    /// Bytes of a filled template, unless the caller of `render` knows a smaller limit.
    public static let renderedBytes = 65_536
    /// Objects, lists or elements within each other.
    public static let depth = 64
    /// Characters of a property name.
    public static let propertyName = 120
    /// Characters of a template's name.
    public static let templateName = 200
    /// Properties of one send.
    public static let properties = 1_000
    /// Bytes of the properties of one send.
    public static let propertyBytes = 65_536
    /// Headers of one template.
    public static let headers = 32
    /// Bytes of a header's value, as written and as filled, and of an expiry or a priority.
    public static let headerBytes = 4_096
}
