extension JSONCursor {
    /// Reads a string in quotes and returns what it says.
    public mutating func string() throws(JSONFault) -> String {
        let (content, isPlain) = try content()
        guard !isPlain else { return text(content) }
        var text: [UInt8] = []
        try walk(content) { scalar, _ in text += String(scalar).utf8 }
        return String(decoding: text, as: UTF8.self)
    }

    /// Passes a string in quotes.
    public mutating func skipString() throws(JSONFault) { _ = try content() }

    /// Reads a string in quotes, gives each character of what it says with the byte at which that begins, and returns the byte of the
    /// closing quote.
    public mutating func string(_ character: (Unicode.Scalar, Int) -> Void) throws(JSONFault) -> Int {
        let (content, _) = try content()
        try walk(content, character)
        return content.upperBound
    }

    /// Passes a string; returns what is between its quotes, and whether that has no escapes.
    private mutating func content() throws(JSONFault) -> (content: Range<Int>, isPlain: Bool) {
        let quote = position
        position += 1
        var isPlain = true
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return (quote + 1..<position - 1, isPlain)
            case UInt8(ascii: "\\"):
                isPlain = false
                _ = try escape()
            case 0..<0x20: throw fault(.controlCharacter)
            default: position += 1
            }
        }
        throw fault(.unterminatedString, from: quote)
    }

    /// The characters of a content that was passed before.
    private mutating func walk(_ content: Range<Int>, _ character: (Unicode.Scalar, Int) -> Void) throws(JSONFault) {
        let end = position
        position = content.lowerBound
        while position < content.upperBound {
            let start = position
            character(bytes[position] == UInt8(ascii: "\\") ? try escape() : scalar(), start)
        }
        position = end
    }

    /// Reads a character as it stands. The bytes are well formed.
    private mutating func scalar() -> Unicode.Scalar {
        let lead = bytes[position]
        let count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        var value = count == 1 ? UInt32(lead) : UInt32(lead) & (0x7F >> UInt32(count))
        for byte in bytes[position...].dropFirst().prefix(count - 1) { value = value << 6 | UInt32(byte & 0x3F) }
        position += count
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// Reads a backslash and what follows it.
    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let letter = peek else { throw fault(.unterminatedEscape, from: start) }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(from: start)
        default: throw fault(.unknownEscape, from: start)
        }
    }

    /// Four digits, or two groups of them that make one character.
    private mutating func unicodeEscape(from start: Int) throws(JSONFault) -> Unicode.Scalar {
        let first = try codeUnit(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), bytes[position...].starts(with: "\\u".utf8) else {
            throw fault(.loneSurrogate, from: start)
        }
        position += 2
        let second = try codeUnit(from: start)
        guard UTF16.isTrailSurrogate(second) else { throw fault(.loneSurrogate, from: start) }
        return Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF) ?? "\u{FFFD}"
    }

    private mutating func codeUnit(from start: Int) throws(JSONFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hexadecimal.value) else { throw fault(.malformedUnicodeEscape, from: start) }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
