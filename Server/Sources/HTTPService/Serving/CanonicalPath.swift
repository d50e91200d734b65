import WireText

/// The one spelling of a path that the server answers to.
///
/// Every other spelling of the same path (a slash more, `.` segments, needless or dangerous escapes) is no path at all. So
/// routing, access rules and logs cannot disagree about what a request asks for (Reference/SecurityCases.md#11).
enum CanonicalPath {
    /// The longest path in bytes.
    static let maximumLength = 2_048

    /// Whether `path` is the canonical spelling of a path.
    static func isCanonical(_ path: String) -> Bool {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= maximumLength else { return false }
        guard bytes.count > 1, !isPlainThroughout(bytes.dropFirst()) else { return true }
        return bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy(
            isCanonicalSegment)
    }

    /// Whether there is nothing to look at twice: no escape, no empty segment, none that begins with a dot.
    private static func isPlainThroughout(_ bytes: Substring.UTF8View) -> Bool {
        var isAtStart = true
        for byte in bytes {
            if byte == UInt8(ascii: "/") {
                guard !isAtStart else { return false }
                isAtStart = true
            } else {
                guard isPlain(byte), !isAtStart || byte != UInt8(ascii: ".") else { return false }
                isAtStart = false
            }
        }
        return !isAtStart
    }

    private static func isCanonicalSegment(_ segment: Substring.UTF8View) -> Bool {
        guard !segment.isEmpty, !segment.elementsEqual(".".utf8), !segment.elementsEqual("..".utf8) else { return false }
        var decoded: [UInt8] = []
        var rest = segment
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(Hexadecimal.value), let low = rest.popFirst().flatMap(Hexadecimal.value)
                else {
                    return false
                }
                let value = high << 4 | low
                guard needsEscape(value) else { return false }
                decoded.append(value)
            } else {
                guard isPlain(byte) else { return false }
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self) != nil
    }

    /// Bytes that have no other spelling than an escape, and that no decoder may take for structure.
    private static func needsEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"): false
        default: !isPlain(byte)
        }
    }

    /// The characters of a path segment (RFC 3986, 3.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"),
            UInt8(ascii: "&"), UInt8(ascii: "'")...UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
            UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
