#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which links a content may offer: https, or http to this machine. Anything else could be a way into another app.
enum LinkRule {
    /// The first link of a `text/uri-list`.
    static func link(inList text: String) -> URL? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }), line.utf8.count <= 2_000 else { return nil }
        guard let url = URL(string: line), let origin = Origin(url), origin.isAcceptable, url.user == nil else { return nil }
        return url
    }
}
