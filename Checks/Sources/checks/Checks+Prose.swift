import Foundation
import RepositoryChecks

extension Checks {
    /// Words that the glossary rules out, and sentences and table cells that are too long, beyond the budget.
    static func prose(_ files: [SourceFile]) throws -> [Finding] {
        let budget = try readBudget()
        let long = PageCheck().places(in: files)
        let counts = try counts(in: files, long: long)
        for notice in budget.notices(for: counts) { print(notice) }
        let places = long.filter { $0.value.count > budget.limit(of: $0.key) }.sorted { $0.key < $1.key }.flatMap(\.value)
        return budget.findings(for: counts) + places
    }

    /// `checks lower`: writes the budget with every count that has fallen. Says what has risen, and writes none of that.
    static func lower(_ paths: [String]) throws -> [Finding] {
        let files = read(paths)
        let budget = try readBudget()
        let counts = try counts(in: files, long: PageCheck().places(in: files))
        try Data(budget.lowered(to: counts).utf8).write(to: URL(filePath: Budget.path))
        return budget.findings(for: counts)
    }

    private static func counts(in files: [SourceFile], long: [String: [Finding]]) throws -> [String: Int] {
        let glossary = try String(contentsOfFile: VocabularyCheck.glossary, encoding: .utf8)
        return VocabularyCheck(glossary: glossary).counts(in: files).merging(long.mapValues(\.count)) { word, _ in word }
    }

    private static func readBudget() throws -> Budget {
        try Budget(String(contentsOfFile: Budget.path, encoding: .utf8))
    }
}
