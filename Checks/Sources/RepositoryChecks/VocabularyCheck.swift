/// Counts the words that the glossary rules out, in pages and in the comments and texts of the sources.
///
/// A word without a capital is counted in any spelling, one with a capital as it stands. Names in backticks are code and do not count.
public struct VocabularyCheck: Sendable {
    /// The page whose tables have a column `Not this`, with words divided by commas.
    public static let glossary = "Documentation/Glossary.md"

    /// The words and phrases that are ruled out.
    public let words: [String]
    private let phrases: [Substring: [Phrase]]

    private struct Phrase {
        let name: String
        let parts: [Substring]
        let isExact: Bool
    }

    /// Takes the words from the glossary's page.
    public init(glossary: String) {
        words = Self.ruledOut(in: glossary)
        let phrases = words.map { word in
            Phrase(name: word, parts: Self.tokens(word), isExact: word.contains { $0.isUppercase })
        }
        self.phrases = Dictionary(grouping: phrases) { Substring($0.parts.first?.lowercased() ?? "") }
    }

    /// How often each word occurs, by the name of its entry in the budget, `word WORD`; every word, also with 0.
    public func counts(in files: [SourceFile]) -> [String: Int] {
        var counts = Dictionary(words.map { ("word \($0)", 0) }, uniquingKeysWith: { first, _ in first })
        for file in files {
            for word in found(in: prose(of: file)) { counts["word \(word)", default: 0] += 1 }
        }
        return counts
    }

    private func prose(of file: SourceFile) -> String {
        if file.path.hasSuffix(".md") {
            guard file.path != Self.glossary, !PageCheck.isExempt(file.path) else { return "" }
            return PageText(file.text).blocks.map(\.text).joined(separator: " ")
        }
        let isSource = ["Sources/", "Server/Sources/", "Server/Lab/"].contains { file.path.hasPrefix($0) }
        guard isSource, file.path.hasSuffix(".swift") else { return "" }
        var stripper = LiteralStripper()
        for line in file.lines { _ = stripper.strip(line) }
        return stripper.prose.replacing(/`[^`\n]*`/, with: "x")
    }

    /// The words that stand in the text, each as often as it does.
    func found(in text: String) -> [String] {
        let tokens = Self.tokens(text)
        return tokens.indices.flatMap { index -> [String] in
            (phrases[Substring(tokens[index].lowercased())] ?? []).filter { phrase in
                let here = tokens[index...].prefix(phrase.parts.count)
                return here.count == phrase.parts.count
                    && zip(here, phrase.parts).allSatisfy { phrase.isExact ? $0 == $1 : $0.lowercased() == $1.lowercased() }
            }.map(\.name)
        }
    }

    private static func tokens(_ text: String) -> [Substring] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "'" || $0 == "_") }
    }

    /// The entries of the columns `Not this`, in their order.
    private static func ruledOut(in glossary: String) -> [String] {
        var column: Int?
        return glossary.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            guard line.hasPrefix("|") else {
                column = nil
                return []
            }
            let cells = PageText.cells(of: line)
            guard let place = column else {
                column = cells.firstIndex { $0.lowercased() == "not this" }
                return []
            }
            guard cells.indices.contains(place) else { return [] }
            return cells[place].split(separator: ",").map(\.trimmingBlanks).filter { !$0.isEmpty }
        }
    }
}
