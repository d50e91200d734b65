import HTTPService
import PushHub

/// A path below `/$containers`: the containers of a hub, one of them, or a file in it.
struct ContainerPath: Hashable, Sendable {
    static let root = "$containers"

    /// The hub's name, decoded.
    var hub: String
    var container: ContainerName?
    var blob: BlobName?

    /// Reads the path of a request or link, `nil` when it lies elsewhere or names nothing.
    init?(_ path: some StringProtocol) {
        guard path.utf8.count <= 1024 else { return nil }
        var segments = String(path).split(separator: Character("/"), maxSplits: 4, omittingEmptySubsequences: false).map { String($0) }
        guard segments.count >= 3, segments[0].isEmpty, Self.isRoot(segments[1]) else { return nil }
        // A final slash names the same.
        if segments.count > 3, segments.last == "" { segments.removeLast() }
        guard let hub = QueryParameters.decoded(segments[2]), !hub.isEmpty else { return nil }
        self.hub = hub
        guard segments.count > 3 else { return }
        guard let container = ContainerName(segments[3]) else { return nil }
        self.container = container
        guard segments.count > 4 else { return }
        guard let blob = QueryParameters.decoded(segments[4]).flatMap(BlobName.init) else { return nil }
        self.blob = blob
    }

    /// Whether a path lies below `/$containers`.
    static func matches(_ path: String) -> Bool {
        path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst().first.map { isRoot(String($0)) }
            ?? false
    }

    /// The label of the metrics.
    var template: String {
        blob != nil
            ? "/$containers/{hub}/{container}/{blob}"
            : container != nil ? "/$containers/{hub}/{container}" : "/$containers/{hub}"
    }

    private static func isRoot(_ segment: String) -> Bool {
        QueryParameters.decoded(segment)?.lowercased() == root
    }
}
