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
