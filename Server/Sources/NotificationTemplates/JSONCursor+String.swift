extension JSONCursor {
    /// Reads a string in quotes and returns what it says, each character with its byte.
    mutating func string() throws(TemplateFault) -> PositionedText {
        let quote = position
        position += 1
        var text = PositionedText(end: position)
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                text.end = position
                position += 1
                return text
            case UInt8(ascii: "\\"):
                let start = position
                text.append(try escape(), at: start)
            case 0..<0x20: throw fault(.controlCharacter)
            case 0..<0x80:
                text.append(Unicode.Scalar(byte), at: position)
                position += 1
            default:
                let scalar = scalar()
                text.append(scalar, at: position)
                position += UTF8.width(scalar)
            }
        }
        throw fault(.unterminatedString, at: quote)
    }

    /// The character of several bytes at the position. The bytes come from a `String`, so they are well formed.
    private func scalar() -> Unicode.Scalar {
        let lead = bytes[position]
        let count = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        var value = UInt32(lead) & (0x7F >> UInt32(count))
        for byte in bytes[position...].dropFirst().prefix(count - 1) { value = value << 6 | UInt32(byte & 0x3F) }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private mutating func escape() throws(TemplateFault) -> Unicode.Scalar {
        let start = position
        position += 1
        defer { position += 1 }
        switch peek {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(from: start)
        default: throw fault(.unknownEscape, at: start)
        }
    }

    /// Reads `uXXXX`, or two of them that make one character, up to but not including the last digit.
    private mutating func unicodeEscape(from start: Int) throws(TemplateFault) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(UInt16(first)), position + 2 < bytes.count, bytes[position + 1] == UInt8(ascii: "\\"),
            bytes[position + 2] == UInt8(ascii: "u")
        else { throw fault(.loneSurrogate, at: start) }
        position += 2
        let second = try hexadecimal()
        guard UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
        else { throw fault(.loneSurrogate, at: start) }
        return scalar
    }

    /// From a `u` to the last of its four digits.
    private mutating func hexadecimal() throws(TemplateFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            position += 1
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault(.malformedUnicodeEscape)
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
