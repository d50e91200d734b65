import RichPushModel

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
/// - Lengths count user-perceived characters.
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

    /// Fills the template. The time is linear in the sizes of template and result.
    ///
    /// Throws `tooLarge` as soon as the result has more than `limit` bytes, however large it would become.
    public func render(
        _ properties: TemplateProperties, limit: Int = TemplateLimits.renderedBytes
    ) throws(TemplateRenderingError) -> [UInt8] {
        var buffer = RenderingBuffer(escaping: format.escaping, limit: limit, expected: bytes.count)
        var hasWritten = false
        for segment in segments {
            switch segment {
            case .literal(let range): try buffer.append(bytes[range])
            case .text(let expression): try expression.render(properties, into: &buffer)
            case .element(let property): try buffer.append((property.bareValue(in: properties) ?? "null").utf8)
            case .comma: if hasWritten { try buffer.append(UInt8(ascii: ",")) }
            case .member(let member):
                if member.comma == .never { hasWritten = false }
                guard let value = member.property.bareValue(in: properties) else { continue }
                try render(member, value, hasWritten: hasWritten, into: &buffer)
                hasWritten = true
            }
        }
        return buffer.bytes
    }

    private func render(
        _ member: TemplateSegment.Member, _ value: String, hasWritten: Bool, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        if member.comma == .always || member.comma == .ifAnyBefore && hasWritten { try buffer.append(UInt8(ascii: ",")) }
        try buffer.append(bytes[member.name])
        try buffer.append(value.utf8)
        try buffer.append(bytes[member.tail])
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

/// A piece of a compiled template. Ranges are of the template's own bytes.
enum TemplateSegment: Hashable, Sendable {
    /// Written as it stands.
    case literal(Range<Int>)
    /// A value within the quotes of a string, or in the text of XML.
    case text(TemplateExpression)
    /// A number or boolean in a list; `null` in its absence, because the places in a list have a meaning.
    case element(TemplateExpression.Property)
    /// A number or boolean that is a member of an object; without a value the member is left out.
    case member(Member)
    /// The comma in front of the first member that is always there, written if one of those before it was.
    case comma

    struct Member: Hashable, Sendable {
        /// How the member is parted from those before it.
        enum Comma: Hashable, Sendable {
            /// It is the first of its object.
            case never
            /// A member that is always there stands before it.
            case always
            /// Only members stand before it that may be left out.
            case ifAnyBefore
        }

        let comma: Comma
        /// From the comma or brace before the member to the value.
        let name: Range<Int>
        let property: TemplateExpression.Property
        /// Blanks behind the value.
        let tail: Range<Int>
    }
}

/// How the body of a template is written (Reference/AzureNotificationHubs.md#4-2).
public enum TemplateFormat: Hashable, Sendable {
    case json
    case xml
    /// JSON if the body stands in braces, else XML.
    case markup
    /// XML if the body begins with `<`, JSON if it stands in braces, else text that stays as it is.
    case raw

    /// The format that the bodies of a platform have, by its name in the hub protocol.
    ///
    /// Bodies for Windows may be anything by their first character, because their header decides what they mean; those of platforms
    /// that this version does not know as well.
    public init(platform: Platform) {
        switch platform.rawValue {
        case "apns", "gcm", "fcmv1", "adm", "baidu", "browser": self = .json
        default: self = .raw
        }
    }

    var escaping: RenderingBuffer.Escaping {
        switch self {
        case .json: .json
        case .xml: .xml
        case .markup, .raw: .none
        }
    }

    /// What the format means for this body.
    func decided(for body: String) -> TemplateFormat {
        guard self == .raw || self == .markup else { return self }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        switch body.utf8.first(where: { !blanks.contains($0) }) {
        case UInt8(ascii: "{") where body.utf8.last(where: { !blanks.contains($0) }) == UInt8(ascii: "}"): return .json
        case UInt8(ascii: "<"): return .xml
        default: return self == .markup ? .xml : .raw
        }
    }
}

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
