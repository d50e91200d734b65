import HTTPService
import PushHub
import ServiceErrors
import WireText

/// A path below `/$containers`: the containers of a hub, one of them, or a file in it.
///
/// The hub stands in the first segment, `/$containers.{hub}/{container}/{blob}`, or in the second, `/$containers/{hub}/…`. Links have
/// the first form: libraries for Azure's storage take a link apart as account, container and blob, and put it together again.
struct ContainerPath: Hashable, Sendable {
    static let root = "$containers"

    /// The hub's name, decoded.
    var hub: String
    var container: ContainerName?
    var blob: BlobName?

    /// Reads the path of a request or link. Throws `unknown-route` when it lies elsewhere, and `invalid-field` with the rule for
    /// a name that cannot be.
    init(_ path: some StringProtocol) throws(ServiceError) {
        guard path.utf8.count <= 1024 else { throw ServiceError(.unknownRoute) }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map { String($0) }
        guard parts.count >= 2, parts[0].isEmpty, let named = Self.hub(in: parts[1]) else { throw ServiceError(.unknownRoute) }
        var rest = parts.count < 3 ? [] : Self.segments(parts[2], atMost: named.isEmpty ? 3 : 2)
        if named.isEmpty {
            guard !rest.isEmpty, let hub = PercentEncoding.decode(rest.removeFirst()), !hub.isEmpty else {
                throw ServiceError(.unknownRoute)
            }
            self.hub = hub
        } else {
            hub = named
        }
        // A final slash names the same.
        if rest.last == "" { rest.removeLast() }
        guard let first = rest.first else { return }
        guard let container = ContainerName(first) else {
            throw ServiceError(.invalidField, "the name of a container has 3 to 63 lower-case letters, digits and hyphens")
        }
        self.container = container
        guard rest.count > 1 else { return }
        guard let blob = PercentEncoding.decode(rest[1]).flatMap(BlobName.init) else {
            throw ServiceError(
                .invalidField,
                "the name of a file has 1 to 200 letters and digits of ASCII and . _ - ~ + = @ ( ) , in parts with / between them"
            )
        }
        self.blob = blob
    }

    private static func segments(_ text: String, atMost count: Int) -> [String] {
        text.split(separator: "/", maxSplits: count - 1, omittingEmptySubsequences: false).map { String($0) }
    }

    /// Whether a path lies below `/$containers` or `/$containers.{hub}`.
    static func matches(_ path: String) -> Bool {
        // Nearly every path is none, and tells it by one byte.
        guard let first = path.utf8.dropFirst().first, first == UInt8(ascii: "$") || first == UInt8(ascii: "%") else {
            return false
        }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.dropFirst().first.map { hub(in: String($0)) != nil } ?? false
    }

    /// The label of the metrics.
    var template: String {
        blob != nil
            ? "/$containers/{hub}/{container}/{blob}"
            : container != nil ? "/$containers/{hub}/{container}" : "/$containers/{hub}"
    }

    /// The hub that the first segment names; empty when the next one does, `nil` when the path lies elsewhere.
    private static func hub(in segment: String) -> String? {
        guard let text = PercentEncoding.decode(segment), text.lowercased().hasPrefix(root) else { return nil }
        let rest = text.dropFirst(root.count)
        if rest.isEmpty { return "" }
        return rest.first == "." && rest.count > 1 ? String(rest.dropFirst()) : nil
    }
}
