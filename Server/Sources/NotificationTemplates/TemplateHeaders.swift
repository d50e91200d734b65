import RichPushModel
import WireText

/// The headers that a template adds to its notifications, in the order given; values may be expressions
/// (Reference/AzureNotificationHubs.md#4-3).
///
/// A value is checked for what a header can carry, as written if it is a literal and again after filling: no property can end a header
/// and begin another.
public struct TemplateHeaders: Hashable, Sendable {
    /// A header.
    public struct Field: Hashable, Sendable {
        /// The name as it was given.
        public let name: String
        /// What it says.
        public let value: ExpressionText
    }

    /// The headers in the order given.
    public let fields: [Field]
    private let platform: Platform

    /// Reads the headers of a template for a platform, by its name in the hub protocol.
    ///
    /// Throws for names that no header can have or that stand there twice, beyond `TemplateLimits.headers`, for Apple for names that
    /// do not begin with `apns-`, for Windows without `X-WNS-Type` and for empty values, and for literals that the header cannot have.
    public init(_ headers: [(name: String, value: String)], platform: Platform) throws(TemplateError) {
        guard headers.count <= TemplateLimits.headers else {
            throw TemplateError(.tooManyHeaders(limit: TemplateLimits.headers), in: .header(""), at: 0)
        }
        var fields: [Field] = []
        var names: Set<String> = []
        for (name, value) in headers {
            guard Self.isName(name) else { throw TemplateError(.malformedHeaderName, in: .header(""), at: 0) }
            guard names.insert(name.lowercased()).inserted else {
                throw TemplateError(.duplicateHeader, in: .header(name), at: 0)
            }
            let field = Field(name: name, value: try ExpressionText(value, in: .header(name)))
            try Self.check(field, on: platform)
            fields.append(field)
        }
        if platform == .windows, !names.contains(Self.windowsType) {
            throw TemplateError(.missingHeader, in: .header("X-WNS-Type"), at: 0)
        }
        self.fields = fields
        self.platform = platform
    }

    /// The headers with their values filled in. A header whose value comes out empty is left out.
    public func render(
        _ properties: TemplateProperties
    ) throws(TemplateRenderingError) -> [(name: String, value: String)] {
        var rendered: [(name: String, value: String)] = []
        for field in fields {
            let value = try field.value.render(properties)
            if value.isEmpty { continue }
            guard Self.mistake(in: value, of: field.name.lowercased(), on: platform) == nil else {
                throw .malformedHeader(field.name)
            }
            rendered.append((field.name, value))
        }
        return rendered
    }

    /// The format of the body that goes with these headers: for Windows the type says whether it may be anything.
    public var bodyFormat: TemplateFormat {
        guard platform == .windows else { return TemplateFormat(platform: platform) }
        let type = fields.first { $0.name.lowercased() == Self.windowsType }?.value
        guard let type, type.isLiteral else { return .raw }
        return type.text.lowercased() == "wns/raw" ? .raw : .markup
    }

    /// Whether a text can be the name of a header (RFC 9110, 5.1), in at most 128 characters.
    static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static let windowsType = "x-wns-type"

    private static func check(_ field: Field, on platform: Platform) throws(TemplateError) {
        let name = field.name.lowercased()
        if platform == .apns, !name.hasPrefix("apns-") {
            throw TemplateError(.foreignHeaderName, in: .header(field.name), at: 0)
        }
        guard field.value.isLiteral, let index = mistake(in: field.value.text, of: name, on: platform) else { return }
        throw TemplateError(.malformedHeaderValue, in: .header(field.name), at: index + 1)
    }

    /// The character at which a value stops to be one that the header can have, counted from 0.
    private static func mistake(in value: String, of name: String, on platform: Platform) -> Int? {
        if let index = value.unicodeScalars.enumerated().first(where: { !(" "..."~").contains($0.element) })?.offset {
            return index
        }
        switch (platform, name) {
        case (.apns, "apns-priority"): return TemplatePriority.number(value) == nil ? 0 : nil
        case (.apns, "apns-expiration"): return Int64(value).map { $0 >= 0 } == true ? nil : 0
        case (.windows, windowsType):
            return ["wns/toast", "wns/tile", "wns/badge", "wns/raw"].contains(value.lowercased()) ? nil : 0
        case (.windows, _): return value.allSatisfy { $0 == " " } ? 0 : nil
        default: return nil
        }
    }
}

extension Platform {
    fileprivate static let windows = Platform(rawValue: "wns")
}

/// A short text outside the body that may be an expression: the value of a header, an expiry, a priority
/// (Reference/AzureNotificationHubs.md#4-3).
public struct ExpressionText: Hashable, Sendable {
    /// The text as it was given.
    public let text: String
    private let expression: TemplateExpression?

    /// Reads a text of at most `TemplateLimits.headerBytes`. Throws if it begins like an expression and is none.
    public init(_ text: String, in part: TemplateError.Part) throws(TemplateError) {
        self.text = text
        guard text.utf8.count <= TemplateLimits.headerBytes else {
            throw TemplateError(.tooLarge(limit: TemplateLimits.headerBytes), in: part, at: 0)
        }
        do throws(TemplateFault) {
            expression = try ExpressionParser.parse(PositionedText(text))
        } catch {
            throw TemplateError(error, in: part, of: Array(text.utf8))
        }
    }

    /// Whether the text means itself, so that it can be judged before any send.
    public var isLiteral: Bool { expression == nil }

    /// The text with its properties filled in; `#(name)` without a number or boolean is empty here. Nothing is escaped: who writes
    /// it somewhere checks it for that place.
    public func render(
        _ properties: TemplateProperties, limit: Int = TemplateLimits.headerBytes
    ) throws(TemplateRenderingError) -> String {
        guard let expression else { return text }
        var buffer = RenderingBuffer(escaping: .none, limit: limit, expected: text.utf8.count)
        try expression.render(properties, into: &buffer)
        return String(decoding: buffer.bytes, as: UTF8.self)
    }
}

/// Until when the push service keeps the notifications of a template: an expression, `0`, or a date-time
/// (Reference/AzureNotificationHubs.md#4-3).
public struct TemplateExpiry: Hashable, Sendable {
    /// What an expiry says once it is filled.
    public enum Moment: Hashable, Sendable {
        /// `0`: deliver now or never.
        case now
        /// Keep it until then.
        case at(Timestamp)

        /// The value of `apns-expiration`: whole seconds since 1970, `0` for now (Reference/APNs.md#3).
        public var seconds: Int64 {
            switch self {
            case .now: 0
            case .at(let moment): max(moment.seconds, 1)
            }
        }
    }

    private let value: ExpressionText

    /// The expiry as it was given.
    public var text: String { value.text }

    /// Reads an expiry. Throws for an empty text and for a literal that is neither `0` nor a date-time.
    public init(_ text: String) throws(TemplateError) {
        value = try ExpressionText(text, in: .expiry)
        guard !text.isEmpty else { throw TemplateError(.empty, in: .expiry, at: 0) }
        if value.isLiteral, Self.moment(text) == nil { throw TemplateError(.malformedExpiry, in: .expiry, at: 1) }
    }

    /// The moment for these properties; `nil` if the expression gives an empty text, as it does when its property is missing: then the
    /// push service's own time applies.
    public func render(_ properties: TemplateProperties) throws(TemplateRenderingError) -> Moment? {
        let text = try value.render(properties)
        if text.isEmpty { return nil }
        guard let moment = Self.moment(text) else { throw .malformedExpiry }
        return moment
    }

    private static func moment(_ text: String) -> Moment? {
        if text == "0" { return .now }
        return LenientTime(text).map { .at($0.moment) }
    }
}

/// The priority of a template's notifications: an expression or a whole number from 0 to 255
/// (Reference/AzureNotificationHubs.md#4-3). APNs knows 1, 5 and 10; whether the number fits the push type is judged when the
/// notification is made.
public struct TemplatePriority: Hashable, Sendable {
    private let value: ExpressionText

    /// The priority as it was given.
    public var text: String { value.text }

    /// Reads a priority. Throws for an empty text and for a literal that is no such number.
    public init(_ text: String) throws(TemplateError) {
        value = try ExpressionText(text, in: .priority)
        guard !text.isEmpty else { throw TemplateError(.empty, in: .priority, at: 0) }
        if value.isLiteral, Self.number(text) == nil { throw TemplateError(.malformedPriority, in: .priority, at: 1) }
    }

    /// The priority for these properties; `nil` if the expression gives an empty text.
    public func render(_ properties: TemplateProperties) throws(TemplateRenderingError) -> UInt8? {
        let text = try value.render(properties)
        if text.isEmpty { return nil }
        guard let number = Self.number(text) else { throw .malformedPriority }
        return number
    }

    static func number(_ text: String) -> UInt8? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8(text) : nil
    }
}
