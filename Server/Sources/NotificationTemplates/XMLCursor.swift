/// Walks over XML byte by byte.
struct XMLCursor {
    let bytes: [UInt8]
    var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool { take(UInt8(ascii: character)) }

    func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Goes behind the next occurrence of `text`.
    mutating func skip(past text: String) throws(TemplateFault) {
        let start = position
        while position < bytes.count {
            if starts(with: text) {
                position += text.utf8.count
                return
            }
            position += 1
        }
        throw fault(.unterminatedMarkup, at: start)
    }

    /// Skips a comment or a processing instruction; false if there is none.
    mutating func skipMiscellaneous() throws(TemplateFault) -> Bool {
        if starts(with: "<!--") {
            let start = position
            position += 4
            try skip(past: "--")
            guard take(">") else { throw fault(.unterminatedMarkup, at: start) }
            return true
        }
        guard starts(with: "<?") else { return false }
        let start = position
        position += 2
        let target = try name()
        guard String(decoding: bytes[target], as: UTF8.self).lowercased() != "xml" else { throw fault(.malformedTag, at: start) }
        try skip(past: "?>")
        return true
    }

    /// A name, prefix included. Any character beyond ASCII may be in it.
    mutating func name() throws(TemplateFault) -> Range<Int> {
        let start = position
        while let byte = peek, Self.isName(byte, isFirst: position == start) { position += 1 }
        guard position > start else { throw fault(.malformedName) }
        return start..<position
    }

    func fault(_ reason: TemplateError.Reason, at offset: Int? = nil) -> TemplateFault {
        TemplateFault(reason, at: offset ?? position)
    }

    private static func isName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: ":"),
            0x80...0xFF:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }
}

extension XMLCursor {
    /// Reads one character of text or of an attribute, a reference decoded.
    mutating func character(into text: inout PositionedText) throws(TemplateFault) {
        guard peek == UInt8(ascii: "&") else {
            if starts(with: "]]>") { throw fault(.malformedTag) }
            return try literalCharacter(into: &text)
        }
        let start = position
        let end = bytes[start...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
        guard let end, let scalar = Self.reference(bytes[(start + 1)..<end]) else { throw fault(.malformedReference) }
        text.append(scalar, at: start)
        position = end + 1
    }

    /// Reads one character as it stands.
    mutating func literalCharacter(into text: inout PositionedText) throws(TemplateFault) {
        guard let lead = peek else { return }
        let count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        let decoded = String(decoding: bytes[position...].prefix(count), as: UTF8.self).unicodeScalars.first
        guard let scalar = decoded, Self.isAllowed(scalar) else { throw fault(.controlCharacter) }
        text.append(scalar, at: position)
        position += count
    }

    private static func reference(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let name = String(decoding: bytes, as: UTF8.self)
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.first?.isHexDigit == true else { return nil }
        let scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
        return scalar.flatMap { isAllowed($0) ? $0 : nil }
    }

    /// XML 1.0, 2.2.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\n", "\r": true
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": false
        default: true
        }
    }
}
