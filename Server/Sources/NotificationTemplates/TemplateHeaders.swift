import RichPushModel

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
}

extension TemplateHeaders {
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
