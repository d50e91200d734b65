#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which links a content may offer: https; while the app is tried out against a backend on this machine also http to this machine.
/// Anything else could be a way into another app, or to a service that listens on the device.
enum LinkRule {
    /// The first link of a `text/uri-list`, if it leads to one of the configuration's hosts; without them to any.
    static func link(inList text: String, by configuration: RichPushConfiguration) -> URL? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }), line.utf8.count <= 2_000 else { return nil }
        guard let url = URL(string: line), let origin = Origin(url), origin.isAcceptable, url.user == nil else { return nil }
        // A configuration has http for this machine only.
        guard origin.scheme == "https" || Origin(configuration.backend)?.scheme == "http" else { return nil }
        guard let hosts = configuration.linkHosts else { return url }
        guard let host = url.host?.lowercased() else { return nil }
        return hosts.contains { $0.lowercased() == host } ? url : nil
    }
}
