/// Bytes as hexadecimal text.
public enum Hexadecimal {
    /// Two digits for each byte.
    public static func text(of bytes: some Sequence<UInt8>, uppercase: Bool = false) -> String {
        let letters = uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            for value in [byte >> 4, byte & 0x0F] { text.append(value < 10 ? UInt8(ascii: "0") + value : letters + value - 10) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Random bytes from the system's generator as text.
    public static func random(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return text(of: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// What a digit of either case stands for; `nil` for any other byte.
    @inlinable
    public static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The URL-safe alphabet of RFC 4648 section 5, without padding.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text of some bytes.
    public static func text(of bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity((bytes.count * 4 + 2) / 3)
        var (bits, count) = (UInt32(0), 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 6 {
                count -= 6
                letters.append(alphabet[Int(bits >> count & 0x3F)])
            }
        }
        if count > 0 { letters.append(alphabet[Int(bits << (6 - count) & 0x3F)]) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// `nil` for anything that is not the one canonical spelling of some bytes.
    public static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let letters = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count * 3 / 4)
        var (bits, count) = (UInt32(0), 0)
        for letter in letters {
            guard let value = value(of: letter) else { return nil }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        // What is left of the last letter: all of it when it stands alone, else bits that are 0 in the canonical spelling.
        guard count < 6, bits & (1 << count - 1) == 0 else { return nil }
        return bytes
    }

    /// A text in Base64 as this reads it: clients also write the other alphabet, and padding.
    public static func plain(_ text: some StringProtocol) -> String {
        let letters = String(text).utf8.prefix { $0 != UInt8(ascii: "=") }.map { letter in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    private static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Percent encoding (RFC 3986, 2.1), on bytes.
public enum PercentEncoding {
    /// The text with every byte escaped that is not unreserved. With `keepsSlashes` it stays a path.
    public static func encode(_ text: some StringProtocol, uppercase: Bool = true, keepsSlashes: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || (keepsSlashes && byte == UInt8(ascii: "/")) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes += Hexadecimal.text(of: CollectionOfOne(byte), uppercase: uppercase).utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that a text stands for; `nil` when an escape is broken and for what is not UTF-8. With `plusIsBlank` a `+` is a
    /// blank, as in forms.
    @inlinable
    public static func decode(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String? {
        bytes(of: Array(text.utf8), plusIsBlank: plusIsBlank, lenient: false).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The text decoded once, whatever it is: a `%` that no two hexadecimal digits follow stays as it is, and bytes that are not UTF-8
    /// become U+FFFD.
    @inlinable
    public static func decodeLeniently(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String {
        // Most texts have nothing to decode.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || (plusIsBlank && $0 == UInt8(ascii: "+")) }) else {
            return String(text)
        }
        return String(decoding: bytes(of: Array(text.utf8), plusIsBlank: plusIsBlank, lenient: true) ?? [], as: UTF8.self)
    }

    @usableFromInline
    static func bytes(of text: [UInt8], plusIsBlank: Bool, lenient: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            guard byte == UInt8(ascii: "%") else {
                bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            if index + 1 < text.count, let high = Hexadecimal.value(text[index]), let low = Hexadecimal.value(text[index + 1]) {
                bytes.append(high << 4 | low)
                index += 2
            } else {
                guard lenient else { return nil }
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Whether a byte stands for itself everywhere (RFC 3986, 2.3).
    @inlinable
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension StringProtocol {
    /// The text without blanks, tabs and line ends at its ends.
    @inlinable
    package var trimmingBlanks: String {
        let isInside: (Unicode.Scalar) -> Bool = { $0 != " " && $0 != "\t" && $0 != "\r" && $0 != "\n" }
        guard let first = unicodeScalars.firstIndex(where: isInside), let last = unicodeScalars.lastIndex(where: isInside) else {
            return ""
        }
        return String(self[first..<unicodeScalars.index(after: last)])
    }
}

/// Writes JSON with its keys in the order of the calls, so that a push has the same bytes every time.
public enum JSONText {
    /// An object of the members that are not `nil`.
    public static func object(_ members: [(name: String, value: String?)]) -> String {
        let written = members.compactMap { member in member.value.map { "\(string(member.name)):\($0)" } }
        return "{\(written.joined(separator: ","))}"
    }

    /// A string literal (RFC 8259 section 7). Everything that need not be escaped stays as it is, to save bytes.
    public static func string(_ value: String) -> String {
        var bytes: [UInt8] = []
        append(string: value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a string literal.
    public static func append(string value: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20: bytes += "\\u00\(Hexadecimal.text(of: CollectionOfOne(byte)))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
