import WireText

/// The URLs of an answer: absolute, built from the request's own authority, spelling and version.
///
/// Clients take ids out of them by position, by literal text and byte for byte (Reference/AzureNotificationHubs.md#0-7): a
/// relative URL, a prefix before the hub, another letter case or a missing version breaks one of them.
public struct LocationHeader: Hashable, Sendable {
    /// The header's name.
    public static let name = "Location"

    private let base: String
    private let version: String

    /// Creates the builder for a request. `authority` is its `Host` or `:authority`; the fallback is used when that is not a
    /// plain host with an optional port. `scheme` is the one that the client used, `https` or `http`.
    public init(authority: String?, fallback: String, scheme: String = "https", route: HubRoute, apiVersion: String) {
        let authority = authority.flatMap { Self.isAuthority($0) ? $0 : nil } ?? fallback
        var base = "\(scheme):/"
        for part in [authority, route.hubSpelling, route.collectionSpelling] where !part.isEmpty {
            base += "/"
            base += part
        }
        self.base = base
        version = apiVersion
    }

    /// The collection of the request itself, `https://{host}/{hub}/{collection}?api-version=…`; of a hub or of the list of hubs
    /// without one.
    public var collection: String { "\(base)?api-version=\(version)" }

    /// A member of the collection, `https://{host}/{hub}/{collection}/{id}?api-version=…`.
    public func member(_ id: String) -> String { "\(base)/\(PercentEncoding.encode(id))?api-version=\(version)" }

    /// The id in such a URL, as this product's client takes it: the last segment before the query; `nil` when the URL has no
    /// such shape.
    public static func id(in location: String) -> String? {
        let path = location.prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/"), path[..<slash].contains("/") else { return nil }
        let id = PercentEncoding.decodeLeniently(path[path.index(after: slash)...])
        return id.isEmpty ? nil : id
    }

    private static func isAuthority(_ text: String) -> Bool {
        (1...261).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
