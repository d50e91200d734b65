/// Whether the links between the pages of the repository lead somewhere: to a file that is there, and to a heading that it has.
/// And whether the index of `Documentation` has each of its pages. Links to other hosts are not followed, and catalogs of DocC are for DocC to check (`scripts/check-docs`).
public struct LinkCheck: Sendable {
    /// Creates the check.
    public init() {}

    /// The links that lead nowhere. `paths` are all files of the repository, `files` its texts.
    public func findings(in files: [SourceFile], paths: [String]) -> [Finding] {
        let pages = files.filter { $0.path.hasSuffix(".md") && !$0.path.contains(".docc/") }
        let anchors = Dictionary(pages.map { ($0.path, Self.anchors(of: $0)) }, uniquingKeysWith: { first, _ in first })
        var places = Set(paths)
        for path in paths {
            var folder = path[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                places.insert(String(folder))
            }
        }
        return pages.flatMap { page in
            Self.links(of: page).compactMap { line, target in
                fault(of: target, in: page, places: places, anchors: anchors).map { Finding("\(page.path):\(line)", $0) }
            }
        } + unlisted(pages)
    }

    /// The pages of `Documentation` that its index does not link to.
    private func unlisted(_ pages: [SourceFile]) -> [Finding] {
        guard let index = pages.first(where: { $0.path == Self.index }) else { return [] }
        let listed = Set(Self.links(of: index).map { Self.resolved($0.target, from: index.path) } + [Self.index])
        return pages.filter { page in
            page.path.hasPrefix("Documentation/") && page.path.count { $0 == "/" } == 1 && !listed.contains(page.path)
        }.map { Finding($0.path, "is not in the index, \(Self.index)") }
    }

    private static let index = "Documentation/README.md"

    private func fault(
        of target: String, in page: SourceFile, places: Set<String>, anchors: [String: Set<String>]
    ) -> String? {
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? page.path : Self.resolved(String(parts[0]), from: page.path)
        guard places.contains(path) else { return "links to \(target), which is not there" }
        guard parts.count > 1, let known = anchors[path], !known.contains(String(parts[1])) else { return nil }
        return "links to \(target), and \(path) has no such heading"
    }

    /// The targets of a page's links with their lines, without those to other hosts and those that are only shown as code.
    static func links(of page: SourceFile) -> [(line: Int, target: String)] {
        var isCode = false
        return page.lines.enumerated().flatMap { index, line -> [(Int, String)] in
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, !line.hasPrefix("    ") else { return [] }
            let words = line.replacing(/`[^`]*`/, with: "")
            return words.matches(of: /\]\(([^)\s]+)\)/).map { (index + 1, String($0.1)) }
                .filter { !$0.1.contains("://") && !$0.1.hasPrefix("mailto:") }
        }
    }

    /// The names of a page's headings as they are linked to: in lower case, without punctuation, hyphens for blanks.
    static func anchors(of page: SourceFile) -> Set<String> {
        var anchors: Set<String> = []
        var isCode = false
        for line in page.lines {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, let heading = line.wholeMatch(of: /#{1,6} +(.*)/) else { continue }
            let kept = heading.1.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
            let name = kept.replacing(" ", with: "-")
            var unique = name
            var count = 0
            while !anchors.insert(unique).inserted {
                count += 1
                unique = "\(name)-\(count)"
            }
        }
        return anchors.union(page.text.matches(of: /<a (?:id|name)="([^"]+)"/).map { String($0.1) })
    }

    /// A path from the root of the repository for one that stands in a page.
    static func resolved(_ target: String, from page: String) -> String {
        var parts = page.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") {
            switch part {
            case ".": break
            case "..": if !parts.isEmpty { parts.removeLast() }
            default: parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}
