/// File names as strangers send them, made safe to show and to put into a header. They are never used as a path.
public enum FileName {
    /// The most bytes of a cleaned name.
    public static let maximumLength = 120

    /// The last path component without control, direction and other invisible characters; `nil` when nothing is left.
    public static func cleaned(_ name: String) -> String? {
        let last = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? ""
        var text = String(String.UnicodeScalarView(last.unicodeScalars.filter(isVisible)))
        while text.first == "." || text.first?.isWhitespace == true { text.removeFirst() }
        while text.last == "." || text.last?.isWhitespace == true { text.removeLast() }
        guard !text.isEmpty else { return nil }
        return shortened(text)
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
        switch scalar.properties.generalCategory {
        // `format` holds the marks that turn the direction of writing, by which "gpj.exe" is shown as "exe.jpg".
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
