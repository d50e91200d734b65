/// How many files a value passes on its way through the code: a section of `Documentation/Walks.md`.
struct Walk: Hashable {
    /// The heading of the section.
    let name: String
    /// How many Swift files the steps of the section link to, each counted once.
    let fileCount: Int

    /// The most files that the walk should have.
    var goal: Int? { Self.goals[name] }

    static let page = "Documentation/Walks.md"

    private static let goals = ["Tag → SQL": 18, "Token → HPACK": 30, "Content id → phone": 45]

    /// The walks of the page in their order. A section without numbered steps is none.
    static func all(in files: [SourceFile]) -> [Walk] {
        guard let page = files.first(where: { $0.path == page }) else { return [] }
        let links = Dictionary(grouping: LinkCheck.links(of: page), by: { $0.line })
        var walks: [(name: String, files: Set<String>)] = []
        for (index, line) in page.lines.enumerated() {
            if line.hasPrefix("## ") {
                walks.append((String(line.dropFirst(3)), []))
            } else if line.prefixMatch(of: /\d+\.\s/) != nil, !walks.isEmpty {
                let paths = (links[index + 1] ?? []).map { LinkCheck.resolved($0.target, from: page.path) }
                walks[walks.count - 1].files.formUnion(paths.filter { $0.hasSuffix(".swift") })
            }
        }
        return walks.filter { !$0.files.isEmpty }.map { Walk(name: $0.name, fileCount: $0.files.count) }
    }
}
