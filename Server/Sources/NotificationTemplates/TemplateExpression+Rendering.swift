import WireText

extension TemplateExpression {
    /// Writes the value into `buffer`, escaped for the place where it stands.
    ///
    /// A property that is missing and has no fallback counts as empty. What comes out is never read as an expression again.
    func render(
        _ properties: TemplateProperties, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        for term in terms {
            switch term {
            case .literal(let text): try buffer.append(escaping: text[...])
            case .property(let property):
                guard let value = property.value(in: properties) else { continue }
                try property.render(value, into: &buffer)
            }
        }
    }
}

extension TemplateExpression.Property {
    func value(in properties: TemplateProperties) -> String? { properties[folded: name] ?? fallback }

    /// The value of `#(name)`: the text of a JSON number or boolean, `nil` for anything else.
    func bareValue(in properties: TemplateProperties) -> String? {
        guard let value = value(in: properties), JSONCursor.isNumberOrBoolean(value) else { return nil }
        return value
    }

    /// Lengths count characters as people see them (extended grapheme clusters), so that a cut never leaves half a flag or a
    /// letter without its accent. The service's own unit is not documented (Reference/AzureNotificationHubs.md#4-2).
    fileprivate func render(
        _ value: String, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        switch form {
        case .whole: try buffer.append(escaping: value[...])
        case .cut(let length): try buffer.append(escaping: value.prefix(length))
        case .dotted(let length): try render(value, dottedAt: length, into: &buffer)
        case .encoded: try buffer.append(percentEncoding: value)
        case .bare: if JSONCursor.isNumberOrBoolean(value) { try buffer.append(escaping: value[...]) }
        }
    }

    /// The dots count: the result never has more than `length` characters.
    private func render(
        _ value: String, dottedAt length: Int, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        let end = value.index(value.startIndex, offsetBy: length, limitedBy: value.endIndex) ?? value.endIndex
        guard end < value.endIndex else { return try buffer.append(escaping: value[...]) }
        let dots = min(3, length)
        try buffer.append(escaping: value[..<value.index(end, offsetBy: -dots)])
        try buffer.append(escaping: "...".prefix(dots))
    }
}
