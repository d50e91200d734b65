/// What XML 1.0 calls a name, with at most one colon as namespaces demand.
public enum XMLName {
    /// Whether a byte may start a name; bytes beyond ASCII are checked with the whole name.
    public static func canStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...0xFF: true
        default: false
        }
    }

    /// Whether a byte may stand inside a name.
    public static func canContinue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: canStart(byte)
        }
    }

    /// Whether a text that consists of such bytes is a name.
    static func isValid(_ name: String) -> Bool {
        var colons = 0
        var afterColon = true
        for scalar in name.unicodeScalars {
            if scalar == ":" {
                guard !afterColon else { return false }
                colons += 1
                afterColon = true
            } else {
                guard scalar.isASCII ? (!afterColon || canStart(UInt8(scalar.value))) : allows(scalar, first: afterColon) else {
                    return false
                }
                afterColon = false
            }
        }
        return colons <= 1 && !afterColon
    }

    /// The prefix, empty when there is none, and the rest.
    static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
        return (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
    }

    /// XML 1.0, productions 4 and 4a, without ASCII.
    private static func allows(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        switch scalar.value {
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F,
            0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        case 0xB7, 0x300...0x36F, 0x203F...0x2040: !first
        default: false
        }
    }
}
