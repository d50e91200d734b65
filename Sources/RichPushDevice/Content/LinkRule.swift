#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which links a content may offer: https, or http to this machine. Anything else could be a way into another app.
enum LinkRule {
    /// The first link of a `text/uri-list`, if it leads to one of `hosts`; absent means to any.
    static func link(inList text: String, hosts: Set<String>? = nil) -> URL? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }), line.utf8.count <= 2_000 else { return nil }
        guard let url = URL(string: line), let origin = Origin(url), origin.isAcceptable, url.user == nil else { return nil }
        guard let hosts else { return url }
        guard let host = url.host?.lowercased() else { return nil }
        return hosts.contains { $0.lowercased() == host } ? url : nil
    }
}
