/// The measures of the repository: the sizes of its areas, and the counts that the other checks limit.
public struct RepositoryMeasures: Sendable {
    /// A file of this many lines or fewer is short.
    static let shortFileLimit = 20

    /// A line of the table: a value for each area, or one for the whole repository.
    private struct Row {
        var name: String
        var areas: [String]?
        var whole: String
    }

    private let rows: [Row]

    /// Measures the tracked files and the targets of the packages.
    ///
    /// - Parameter glossary: the page that rules out words.
    public init(files: [SourceFile], packages: [PackageManifest], glossary: String, plan: FloorPlan) {
        let areas = Dictionary(grouping: files) { SourceArea(path: $0.path, plan: plan) }
        rows =
            Self.sizes(of: SourceArea.allCases.map { areas[$0] ?? [] })
            + Self.counts(in: files, glossary: glossary, plan: plan)
            + Self.walks(in: files)
            + Self.targets(of: packages, files: files, plan: plan)
    }

    private static func sizes(of areas: [[SourceFile]]) -> [Row] {
        let all = areas + [areas.flatMap { $0 }]
        let lines = all.map(LineCount.init)
        let lengths = all.map(SizeCheck().fileLengths)
        let functions = all.map(SizeCheck().functionLengths)
        let values: [(name: String, values: [Int])] = [
            ("lines", lines.map(\.total)),
            ("lines of code", lines.map(\.code)),
            ("lines of comments", lines.map(\.comments)),
            ("files", all.map(\.count)),
            ("lines of a file, median", lengths.map { $0?.median ?? 0 }),
            ("lines of a file, 90th percentile", lengths.map { $0?.percentile90 ?? 0 }),
            ("lines of a file, maximum", lengths.map { $0?.maximum ?? 0 }),
            ("files of \(shortFileLimit) lines or fewer", all.map { $0.count { $0.lineCount <= shortFileLimit } }),
            ("lines of a function, 90th percentile", functions.map { $0?.percentile90 ?? 0 }),
            ("lines of a function, maximum", functions.map { $0?.maximum ?? 0 }),
        ]
        return values.map { name, values in
            Row(name: name, areas: values.dropLast().map(String.init), whole: values.last.map(String.init) ?? "")
        }
    }

    private static func counts(in files: [SourceFile], glossary: String, plan: FloorPlan) -> [Row] {
        let words = VocabularyCheck(glossary: glossary).counts(in: files).values.reduce(0, +)
        return [
            Row(name: "words that the glossary rules out", whole: "\(words)"),
            Row(name: "citations that lead nowhere", whole: "\(CitationCheck().findings(in: files).count)"),
            Row(name: "uses between folders allowed to form a circle", whole: "\(plan.folderCircles.count)"),
            Row(name: "type names declared in two modules", whole: "\(TypeNameCheck().findings(in: files).count)"),
        ]
    }

    private static func walks(in files: [SourceFile]) -> [Row] {
        Walk.all(in: files).map { walk in
            let goal = walk.goal.map { ", at most \($0)" } ?? ""
            return Row(name: "files on the walk \(walk.name)\(goal)", whole: "\(walk.fileCount)")
        }
    }

    private static func targets(of packages: [PackageManifest], files: [SourceFile], plan: FloorPlan) -> [Row] {
        let targets = packages.flatMap { package in
            package.sourceTargets.map { target in
                let folder = package.root + target.folder + "/"
                let lines = files.filter { $0.path.hasPrefix(folder) && $0.path.hasSuffix(".swift") }.map(\.lineCount).reduce(
                    0, +)
                return (name: target.name, uses: plan.useCount(of: target), lines: lines)
            }
        }
        let widest = targets.max { $0.uses < $1.uses }
        let largest = targets.max { $0.lines < $1.lines }
        return [
            Row(
                name: "targets that use more than \(FloorPlan.useLimit) targets",
                whole: "\(targets.count { $0.uses > FloorPlan.useLimit })"),
            Row(name: "most targets used by one: \(widest?.name ?? "none")", whole: "\(widest?.uses ?? 0)"),
            Row(name: "lines of the largest target: \(largest?.name ?? "none")", whole: "\(largest?.lines ?? 0)"),
        ]
    }

    /// The measures as a table with a column for each area and one for all of them or the whole repository.
    public var table: String {
        let header = [""] + SourceArea.allCases.map(\.rawValue) + ["all"]
        let cells = rows.map { [$0.name] + ($0.areas ?? SourceArea.allCases.map { _ in "" }) + [$0.whole] }
        let lines = [header] + cells
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            line.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - line[column].count)
                return column == 0 ? line[column] + padding : padding + line[column]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
