import WireText

/// The address of a request as this product's client makes it.
public enum HubURL {
    /// Joins a base without a final slash, the segments of the path and the query. Everything is percent-encoded, but for the `$`
    /// of fixed segments such as `$batch`, which clients send as it is.
    public static func text(base: String, path: [String], query: [HeaderField] = []) -> String {
        let segments = path.map { $0.hasPrefix("$") ? "$" + PercentEncoding.encode($0.dropFirst()) : PercentEncoding.encode($0) }
        let items = query.map { $0.value.isEmpty ? PercentEncoding.encode($0.name) : encoded($0) }
        return ([base] + segments).joined(separator: "/") + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    private static func encoded(_ item: HeaderField) -> String {
        PercentEncoding.encode(item.name) + "=" + PercentEncoding.encode(item.value)
    }
}
