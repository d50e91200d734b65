/// Whether the tests that the page of findings names are there. A name in backquotes of the column `Test` is a type of a test target, or
/// a file: its path from the root, the end of its path, or its name without the ending.
public struct TestNameCheck: Sendable {
    /// The page whose table has the columns `State` and `Test`.
    public static let page = "Documentation/Findings.md"

    /// Creates the check.
    public init() {}

    /// Names of tests that are nowhere, and rows that are closed without a test.
    public func findings(in files: [SourceFile]) -> [Finding] {
        guard let page = files.first(where: { $0.path == Self.page }) else { return [] }
        let rows = Self.rows(of: page)
        let names = rows.flatMap(\.tests)
        let known = Self.types(in: files).union(names.filter { name in files.contains { Self.isFile($0.path, named: name) } })
        return rows.flatMap { row -> [Finding] in
            let place = "\(page.path):\(row.line)"
            if row.isClosed, row.tests.isEmpty { return [Finding(place, "\(row.name) is closed and names no test")] }
            return row.tests.filter { !known.contains($0) }
                .map { Finding(place, "names the test \($0), and there is no such type of a test target and no such file") }
        }
    }

    private struct Row {
        var line: Int
        var name: String
        var isClosed: Bool
        var tests: [String]
    }

    /// The rows of the tables that have both columns.
    private static func rows(of page: SourceFile) -> [Row] {
        var columns: (state: Int, test: Int)?
        return page.lines.enumerated().compactMap { index, line in
            guard line.hasPrefix("|") else {
                columns = nil
                return nil
            }
            let cells = PageText.cells(of: line)
            guard let known = columns else {
                if let state = cells.firstIndex(of: "State"), let test = cells.firstIndex(of: "Test") { columns = (state, test) }
                return nil
            }
            guard cells.count > max(known.state, known.test) else { return nil }
            return Row(
                line: index + 1, name: cells[0], isClosed: cells[known.state].hasPrefix("closed"),
                tests: cells[known.test].matches(of: /`([^`]+)`/).map { String($0.1) })
        }
    }

    /// What test targets declare.
    private static func types(in files: [SourceFile]) -> Set<String> {
        let tests = files.filter { $0.path.hasSuffix(".swift") && ($0.path.hasPrefix("Tests/") || $0.path.contains("/Tests/")) }
        let declaration = /\b(?:struct|class|enum|actor) +([A-Za-z0-9_]+)/
        return Set(tests.flatMap { file in file.text.matches(of: declaration).map { String($0.1) } })
    }

    private static func isFile(_ path: String, named name: String) -> Bool {
        if path == name || path.hasSuffix("/" + name) { return true }
        guard let file = path.split(separator: "/").last, let dot = file.lastIndex(of: ".") else { return false }
        return file[..<dot] == name
    }
}
