import RichPushModel

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
        return DateTimeReader.timestamp(text).map(Moment.at)
    }
}
