/// Keeps pages quick to read: counts table cells and sentences that are too long.
public struct PageCheck: Sendable {
    /// Characters of a table cell, without the addresses of its links.
    public static let cellLimit = 200
    /// Words of a sentence. A piece of code is one word.
    public static let sentenceLimit = 30
    /// Pages that a program writes, and texts of others.
    private static let exempt = [
        "Documentation/Settings.md", "Documentation/Errors.md", "Documentation/Metrics.md", "Documentation/Retries.md",
        "Documentation/Reference/",
    ]

    /// Creates the check.
    public init() {}

    /// Whether a program writes this page, or it is a text of others.
    static func isExempt(_ path: String) -> Bool { exempt.contains { path.hasPrefix($0) } }

    /// The pages that the limits are for: the front page and those in `Documentation`.
    private static func isLimited(_ path: String) -> Bool {
        path == "README.md" || (path.hasPrefix("Documentation/") && path.hasSuffix(".md") && !isExempt(path))
    }

    /// What is too long, by the name of its entry in the budget: `cell PAGE` and `sentence PAGE`, for every page, also with nothing.
    public func places(in files: [SourceFile]) -> [String: [Finding]] {
        files.filter { Self.isLimited($0.path) }.reduce(into: [:]) { places, page in
            let blocks = PageText(page.text).blocks
            places["cell \(page.path)"] = blocks.filter { $0.kind == .cell && $0.text.count > Self.cellLimit }.map {
                Finding("\(page.path):\($0.line)", "a table cell has \($0.text.count) characters, more than \(Self.cellLimit)")
            }
            places["sentence \(page.path)"] = blocks.flatMap { block in
                Self.sentences(of: block.text).map { ($0, Self.words(of: $0)) }.filter { $1 > Self.sentenceLimit }.map {
                    Finding(
                        "\(page.path):\(block.line)",
                        "a sentence has \($1) words, more than \(Self.sentenceLimit): \"\($0.prefix(60))…\"")
                }
            }
        }
    }

    /// A sentence ends with a full stop, a question or exclamation mark before a blank; a mark within a word ends nothing.
    static func sentences(of text: String) -> [String] {
        text.replacing(/([.!?]["”)*_]*) +/) { "\($0.1)\u{1}" }.split(separator: "\u{1}").map(String.init)
    }

    private static func words(of sentence: String) -> Int {
        sentence.split(separator: " ").count { $0.contains { $0.isLetter || $0.isNumber } }
    }
}
