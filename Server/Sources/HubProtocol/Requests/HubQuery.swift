import WireText

/// The query of a request: names without regard to case, values decoded once as form data (`+` is a blank).
///
/// Both names and values may be percent-encoded (`%24top`), and a name may stand without a value (`&direct`)
/// (Reference/AzureNotificationHubs.md#0-10, #0-11 and #2-5).
public struct HubQuery: Hashable, Sendable {
    private let pairs: [HeaderField]

    /// The version that is echoed when a request names none; the one that the official clients send
    /// (Reference/AzureNotificationHubs.md#2-0).
    public static let defaultVersion = "2020-06"

    /// Reads a query without its question mark. At most 32 parameters count, more are ignored.
    public init(_ query: String?) {
        pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&"), maxSplits: 32).prefix(32).map { part in
            let pieces = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return HeaderField(
                PercentEncoding.decodeLeniently(Substring(pieces[0]), plusIsBlank: true).lowercased(),
                pieces.count > 1 ? PercentEncoding.decodeLeniently(Substring(pieces[1]), plusIsBlank: true) : "")
        }
    }

    /// The first value under the name; empty when the name stands alone, `nil` when it is absent.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return pairs.first { $0.name == name }?.value
    }

    /// Whether a flag is set: `&direct`, `&direct=`, `&direct=true`; only `false` and `0` unset it.
    public func flag(_ name: String) -> Bool {
        guard let value = self[name] else { return false }
        return value != "0" && value.lowercased() != "false"
    }

    /// Whether the send goes to the handle in its header.
    public var isDirect: Bool { flag("direct") }

    /// Whether the send is a test. On other operations clients add the flag without meaning
    /// (Reference/AzureNotificationHubs.md#2-10).
    public var isTest: Bool { flag("test") }

    /// The filter of a list; `nil` when there is none or nothing but blanks, which selects everything.
    public var filter: String? {
        guard let text = self["$filter"], !text.trimmingBlanks.isEmpty else { return nil }
        return text
    }

    /// The version to echo in `Location` and in entries: as the request gave it if it is 1 to 32 of `A-Z a-z 0-9 . -`, else
    /// the default. Nothing depends on it (Reference/AzureNotificationHubs.md#2-0).
    public var apiVersion: String {
        guard let given = self["api-version"], (1...32).contains(given.utf8.count),
            given.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "~") })
        else { return Self.defaultVersion }
        return given
    }
}
