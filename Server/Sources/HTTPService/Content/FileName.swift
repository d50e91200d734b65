/// File names as strangers send them, made safe to show and to put into a header. They are never used as a path.
public enum FileName {
    /// The most bytes of a cleaned name.
    public static let maximumLength = 120

    /// The last path component without control, direction and other invisible characters; `nil` when nothing is left.
    public static func cleaned(_ name: String) -> String? {
        if isClean(name) { return name }
        let last = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? ""
        var text = String(String.UnicodeScalarView(last.unicodeScalars.filter(isVisible)))
        while text.first == "." || text.first?.isWhitespace == true { text.removeFirst() }
        while text.last == "." || text.last?.isWhitespace == true { text.removeLast() }
        guard !text.isEmpty else { return nil }
        return shortened(text)
    }

    /// Whether it is as most names are, which is seen at a glance; others are looked at character by character.
    private static func isClean(_ name: String) -> Bool {
        let dot = UInt8(ascii: ".")
        guard let first = name.utf8.first, first != dot, name.utf8.last != dot else { return false }
        guard name.utf8.count <= maximumLength else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), dot, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }

    /// Cuts the middle out of a long name, so that its extension stays.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > maximumLength else { return text }
        let dot = text.lastIndex(of: ".") ?? text.endIndex
        let suffix = text[dot...].utf8.count <= 16 ? text[dot...] : ""
        var stem = text[..<dot]
        while stem.utf8.count + suffix.utf8.count > maximumLength, !stem.isEmpty { stem.removeLast() }
        return String(stem + suffix)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // The category of a character is found in tables, which costs more than all the rest of a header.
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        // `format` holds the marks that turn the direction of writing, by which "gpj.exe" is shown as "exe.jpg".
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
