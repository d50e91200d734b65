/// The body of a template registration: text with places that the properties of a send fill
/// (Reference/AzureNotificationHubs.md#4).
///
/// It is read and checked once. Everything that is no expression stays byte for byte as written: the order of members, the spelling
/// of numbers, blanks. A value is escaped for the place where it stands and never read as an expression again, so no property can
/// change the structure of the result: a JSON template always gives valid JSON.
///
/// Decided here, because Microsoft documents nothing of it (Reference/AzureNotificationHubs.md#4-2):
/// - `#(name)` without a number or boolean leaves its member out of an object; in a list it becomes `null`, because places in a
///   list have a meaning.
/// - A fallback stands in wherever a property has no value, also in front of a length; the length then counts for it.
/// - Lengths count characters as people see them.
public struct NotificationTemplate: Sendable {
    /// How the body is written: `json`, `xml` or, if it is neither, `raw`.
    public let format: TemplateFormat
    let bytes: [UInt8]
    let segments: [TemplateSegment]

    /// Reads a body that must be JSON: an object, because no push service takes anything else. At most
    /// `TemplateLimits.bodyBytes`.
    public init(json body: String) throws(TemplateError) { try self.init(body, format: .json) }

    /// Reads a body in the given format.
    public init(_ body: String, format: TemplateFormat) throws(TemplateError) {
        bytes = Array(body.utf8)
        self.format = format.decided(for: body)
        do throws(TemplateFault) {
            guard bytes.count <= TemplateLimits.bodyBytes else {
                throw TemplateFault(.tooLarge(limit: TemplateLimits.bodyBytes), at: nil)
            }
            switch self.format {
            case .json: segments = try JSONTemplateParser.parse(body)
            case .xml: segments = try XMLTemplateParser.parse(body)
            case .markup, .raw: segments = bytes.isEmpty ? [] : [.literal(bytes.indices)]
            }
        } catch {
            throw TemplateError(error, in: .body, of: bytes)
        }
    }

    /// The body as it was given.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether no property changes the result.
    public var isConstant: Bool {
        segments.allSatisfy { if case .literal = $0 { true } else { false } }
    }
}

extension NotificationTemplate: Hashable {
    /// Equal text in an equal format is an equal template.
    public static func == (left: Self, right: Self) -> Bool { left.format == right.format && left.bytes == right.bytes }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(format)
        hasher.combine(bytes)
    }
}
