import WireText

/// What a template needs of XML: a mistake is at a byte, and each character of a text knows its own.
extension XMLCursor {
    init(_ text: String) { self.init(Array(text.utf8)) }

    /// Goes behind the next occurrence of `text`.
    mutating func skip(past text: StaticString) throws(TemplateFault) {
        let start = offset
        while !take(text) {
            guard !isAtEnd else { throw fault(.unterminatedMarkup, at: start) }
            advance(1)
        }
    }

    /// Skips a comment or a processing instruction; false if there is none.
    mutating func skipMiscellaneous() throws(TemplateFault) -> Bool {
        let start = offset
        if take("<!--") {
            try skip(past: "--")
            guard take(">") else { throw fault(.unterminatedMarkup, at: start) }
            return true
        }
        guard take("<?") else { return false }
        let target = try name()
        guard String(decoding: bytes[target], as: UTF8.self).lowercased() != "xml" else { throw fault(.malformedTag, at: start) }
        try skip(past: "?>")
        return true
    }

    /// A name, prefix included. Any character beyond ASCII may be in it.
    mutating func name() throws(TemplateFault) -> Range<Int> {
        let start = offset
        guard XMLName.canStart(byte) || byte == UInt8(ascii: ":") else { throw fault(.malformedName) }
        while XMLName.canContinue(byte) { advance(1) }
        return start..<offset
    }

    func fault(_ reason: TemplateError.Reason, at offset: Int? = nil) -> TemplateFault {
        TemplateFault(reason, at: offset ?? self.offset)
    }

    /// Reads one character of text or of an attribute, a reference decoded.
    mutating func character(into text: inout PositionedText) throws(TemplateFault) {
        guard byte == UInt8(ascii: "&") else {
            if isAt("]]>") { throw fault(.malformedTag) }
            return try literalCharacter(into: &text)
        }
        let end = bytes[offset...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
        guard let end, let scalar = XMLCursor.scalar(ofReference: bytes[(offset + 1)..<end]) else {
            throw fault(.malformedReference)
        }
        text.append(scalar, at: offset)
        advance(end + 1 - offset)
    }

    /// Reads one character as it stands.
    mutating func literalCharacter(into text: inout PositionedText) throws(TemplateFault) {
        let count = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        let decoded = String(decoding: bytes[offset...].prefix(count), as: UTF8.self).unicodeScalars.first
        guard let scalar = decoded, XMLCursor.isCharacter(scalar) else { throw fault(.controlCharacter) }
        text.append(scalar, at: offset)
        advance(count)
    }
}
