import WireText

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
