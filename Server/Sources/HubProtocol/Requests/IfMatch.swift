import WireText

/// The condition of a conditional write, in any of the five shapes that clients send: `*`, `"*"`, `"3"`, `W/"3"`, `3`
/// (Reference/AzureNotificationHubs.md#0-16).
public enum IfMatch: Hashable, Sendable {
    /// It must exist, in any version.
    case any
    /// It must have this ETag, written without quotes.
    case etag(String)

    /// Reads the header; `nil` when there is none, which means: no condition. A value without meaning never matches.
    public init?(header: String?) {
        guard let header else { return nil }
        var text = header.trimmingBlanks[...]
        if text.hasPrefix("W/") || text.hasPrefix("w/") { text = text.dropFirst(2) }
        if text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
        self = text == "*" ? .any : .etag(String(text))
    }

    /// The version that is expected; `nil` for `any` and for a text that is no version, which never matches.
    public var version: Int64? {
        guard case .etag(let text) = self, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Whether a stored version satisfies the condition.
    public func matches(_ stored: Int64) -> Bool { self == .any || version == stored }

    /// The header as this product's client sends it: `*` or the tag in quotes.
    public var header: String {
        switch self {
        case .any: "*"
        case .etag(let text): "\"\(text)\""
        }
    }

    /// The `ETag` header of an answer, `W/"3"`.
    public static func header(of version: Int64) -> String { "W/\"\(version)\"" }
}
