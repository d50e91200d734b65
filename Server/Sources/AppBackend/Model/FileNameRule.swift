import RichPushModel

/// Makes a file name that is safe in a header and on any disk, and that ends as its content says.
enum FileNameRule {
    /// The most characters of a name before its ending.
    static let maximumStem = 80

    /// The cleaned name; `nil` when there was none. Directories, control characters, quotes, direction marks and inner dots
    /// go, so neither `..` nor a double ending survives.
    static func clean(_ name: String?, for format: MediaFormat) -> String? {
        guard let last = name?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
        var pieces = last.split(separator: ".").map(String.init)
        let ending = pieces.count > 1 ? pieces.removeLast().lowercased() : ""
        let stem = pieces.joined(separator: "_").unicodeScalars.map { isAllowed($0) ? Character($0) : "_" }
        let trimmed = String(String(stem).trimmingPrefix(while: { $0 == "_" || $0 == " " || $0 == "-" }).prefix(maximumStem))
        let kept = format.endings.contains(ending) ? ending : format.endings[0]
        return "\(trimmed.isEmpty ? "content" : trimmed).\(kept)"
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "-", "_", "(", ")", "a"..."z", "A"..."Z", "0"..."9": true
        default: !scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
    }
}
