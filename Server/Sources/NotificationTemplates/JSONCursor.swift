/// Walks over JSON (RFC 8259) byte by byte. What the bytes mean for a template or for properties is the reader's matter.
struct JSONCursor {
    let bytes: [UInt8]
    var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether the text is nothing but a JSON number, `true` or `false`.
    static func isNumberOrBoolean(_ text: String) -> Bool {
        if text == "true" || text == "false" { return true }
        var cursor = JSONCursor(text)
        do throws(TemplateFault) {
            try cursor.number()
            return cursor.position == cursor.bytes.count
        } catch {
            return false
        }
    }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool { take(UInt8(ascii: character)) }

    mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    func fault(_ reason: TemplateError.Reason, at offset: Int? = nil) -> TemplateFault {
        TemplateFault(reason, at: offset ?? position)
    }

    /// Reads a value that is neither string nor object nor list.
    mutating func plainValue() throws(TemplateFault) {
        switch peek {
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func word(_ text: String) throws(TemplateFault) {
        let start = position
        for byte in text.utf8 where !take(byte) { throw fault(.expectedValue, at: start) }
    }

    mutating func number() throws(TemplateFault) {
        let start = position
        _ = take("-")
        if !take("0") {
            guard digits() else { throw fault(.expectedValue, at: start) }
        }
        if take(".") {
            guard digits() else { throw fault(.expectedDigit) }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { throw fault(.expectedDigit) }
        }
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }
}
