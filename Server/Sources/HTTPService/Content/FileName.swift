import WireText

/// Untrusted file names, made safe to show and to put into a header. They are never used as a path.
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

    /// The fast path for most names; others are checked character by character.
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

/// Writes `Content-Disposition` (RFC 6266), so that no file name can break out of the header.
public enum ContentDisposition {
    /// The header for a download. It is always `attachment`: a browser shows pictures and plays sounds from elements of a page
    /// in spite of it, and never renders what it gets as a document (Reference/SecurityCases.md#1).
    public static func attachment(fileName: String?) -> String {
        guard let name = fileName.flatMap(FileName.cleaned) else { return "attachment" }
        if name.unicodeScalars.allSatisfy(isPlain) { return "attachment; filename=\"\(name)\"" }
        let plain = String(name.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
    }

    /// The file name in a header that a client sent, as sent; the extended form wins (RFC 6266, 4.3).
    public static func fileName(in header: String) -> String? {
        let parameters = HeaderParameters(header)?.parameters
        return parameters?["filename*"].flatMap(decodedExtendedValue) ?? parameters?["filename"]
    }

    /// The text of `UTF-8''percent-escaped` (RFC 8187); `nil` when it is another character set or malformed.
    static func decodedExtendedValue(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return PercentEncoding.decode(parts[2])
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        (0x20..<0x7F).contains(scalar.value) && scalar != "\"" && scalar != "\\" && scalar != "%"
    }
}
