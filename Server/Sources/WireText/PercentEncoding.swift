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
