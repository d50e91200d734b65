/// Whether what comments and pages cite is in the repository. The form is the path of a page below `Documentation/` with the anchor
/// of a section, and further sections of that page by their anchors alone (`CONTRIBUTING.md`). Anchors of these pages are
/// written out (`<a id="1-4"></a>`), so that a heading may get other words.
public struct CitationCheck: Sendable {
    private static let folder = "Documentation/Reference/"

    /// Creates the check.
    public init() {}

    /// Citations that lead nowhere, citations in another form, and anchors that a page has twice.
    public func findings(in files: [SourceFile]) -> [Finding] {
        let pages = files.filter { $0.path.hasPrefix(Self.folder) && $0.path.hasSuffix(".md") }
        let anchors = Dictionary(
            pages.map { ($0.path, Self.anchors(of: $0).map(\.name)) }, uniquingKeysWith: { first, _ in first }
        ).mapValues(Set.init)
        return pages.flatMap(Self.repeatedAnchors) + files.flatMap { findings(in: $0, anchors: anchors) }
    }

    private func findings(in file: SourceFile, anchors: [String: Set<String>]) -> [Finding] {
        Self.pairs(of: file).flatMap { line, words, length -> [Finding] in
            let place = "\(file.path):\(line)"
            return Self.dead(in: words, beginningBefore: length, anchors: anchors).map { Finding(place, $0) }
                + Self.outdated(in: words, beginningBefore: length).map { Finding(place, $0) }
        }
    }

    // MARK: Citations

    private static func dead(in words: String, beginningBefore length: Int, anchors: [String: Set<String>]) -> [String] {
        guard words.contains("Reference/") else { return [] }
        let form = /Reference\/([A-Za-z0-9]+\.md)((?:#[a-z0-9-]+(?:(?:,| and|, and| to) #[0-9][0-9-]*)*)?)/
        return words.matches(of: form).filter { begins($0.range, in: words, before: length) }.flatMap { match -> [String] in
            guard let known = anchors[folder + match.1] else { return ["cites Reference/\(match.1), which is not there"] }
            return match.2.matches(of: /#([a-z0-9-]+)/).map { String($0.1) }.filter { !known.contains($0) }
                .map { "cites Reference/\(match.1)#\($0), and the page has no such anchor" }
        }
    }

    /// A number without a page, which a reader cannot find.
    private static func outdated(in words: String, beginningBefore length: Int) -> [String] {
        guard words.contains("eference") || words.contains("ecurity case") || words.contains("esign ") else { return [] }
        let forms = /(?:APNs|Azure|[Hh]ub|[Cc]lient) [Rr]eference(?:'s)?,? (?:section |sections |point |table )?[0-9]/
        let others = /[Ss]ecurity cases? [0-9]|\([Rr]eference [0-9]|\b(?:[Rr]eference|[Dd]esign),? (?:section|point) [0-9]/
        return (words.matches(of: forms) + words.matches(of: others))
            .filter { begins($0.range, in: words, before: length) }
            .map { "\"\($0.0)\" names no page; cite Documentation/Reference as CONTRIBUTING.md says" }
    }

    // MARK: Lines

    /// Each line with the one after it, without the marks of comments, since a citation may be broken over two; with its number
    /// and the length of its own part. Lines that cannot begin a citation are left out.
    private static func pairs(of file: SourceFile) -> [(line: Int, words: String, length: Int)] {
        let marks = ["eference", "ecurity", "esign", "APNs", "Azure", "ub", "lient"]
        let lines = file.lines
        return lines.indices.compactMap { index in
            guard marks.contains(where: lines[index].contains) else { return nil }
            let own = words(of: lines[index])
            let next = index + 1 < lines.endIndex ? words(of: lines[index + 1]) : ""
            return (index + 1, "\(own) \(next)", own.count)
        }
    }

    private static func words(of line: Substring) -> Substring {
        line.drop { $0 == " " || $0 == "\t" }.drop { $0 == "/" || $0 == "*" }.drop { $0 == " " }
    }

    private static func begins(_ range: Range<String.Index>, in words: String, before length: Int) -> Bool {
        words.distance(from: words.startIndex, to: range.lowerBound) < length
    }

    // MARK: Anchors

    private static func anchors(of page: SourceFile) -> [(name: String, line: Int)] {
        page.lines.enumerated().flatMap { index, line in
            line.matches(of: /<a id="([^"]+)"/).map { (String($0.1), index + 1) }
        }
    }

    private static func repeatedAnchors(of page: SourceFile) -> [Finding] {
        var seen: Set<String> = []
        return anchors(of: page).filter { !seen.insert($0.name).inserted }
            .map { Finding("\(page.path):\($0.line)", "has the anchor \($0.name) a second time") }
    }
}
