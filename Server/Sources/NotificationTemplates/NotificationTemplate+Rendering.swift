extension NotificationTemplate {
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
