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
