/// The prose of a page in Markdown, block by block: without code, addresses of links, and the marks of lists and tables.
public struct PageText: Sendable {
    /// What a block is.
    public enum Kind: Sendable { case heading, paragraph, cell }

    /// One heading, paragraph, list item or table cell.
    public struct Block: Sendable {
        /// The line on which it begins, from 1.
        public let line: Int
        public let kind: Kind
        /// What a reader sees of it. Each piece of code in it is one word, `x`.
        public let text: String
    }

    /// The blocks in their order.
    public let blocks: [Block]

    /// Reads the page.
    public init(_ text: String) {
        var reader = Reader()
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            reader.read(line, number: index + 1)
        }
        reader.endParagraph()
        blocks = reader.blocks
    }

    private struct Reader {
        var blocks: [Block] = []
        private var paragraph: [String] = []
        private var start = 0
        private var isCode = false

        mutating func read(_ line: Substring, number: Int) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("```") { isCode.toggle() }
            if isCode || text.isEmpty || text.hasPrefix("```") || (line.hasPrefix("    ") && paragraph.isEmpty) {
                endParagraph()
            } else if text.hasPrefix("#") {
                endParagraph()
                append(.heading, number, String(text.drop { $0 == "#" }))
            } else if text.hasPrefix("|") {
                endParagraph()
                for cell in PageText.cells(of: text) { append(.cell, number, cell) }
            } else {
                let item = text.replacing(/^([-*]|\d+\.) +/, with: "")
                if item != text { endParagraph() }
                if paragraph.isEmpty { start = number }
                paragraph.append(String(item))
            }
        }

        mutating func endParagraph() {
            if !paragraph.isEmpty { append(.paragraph, start, paragraph.joined(separator: " ")) }
            paragraph = []
        }

        private mutating func append(_ kind: Kind, _ line: Int, _ text: String) {
            let seen = text.replacing(/`[^`]*`/, with: "x").replacing(/!?\[([^\]]*)\]\([^)]*\)/) { String($0.1) }
            blocks.append(Block(line: line, kind: kind, text: seen.trimmingBlanks))
        }
    }

    /// The cells of a row of a table, as they are written; none for the line below its head.
    static func cells(of row: Substring) -> [String] {
        guard row.contains(where: { $0.isLetter || $0.isNumber }) else { return [] }
        let inner = row.replacing("\\|", with: "\u{1}").split(separator: "|", omittingEmptySubsequences: false).dropFirst()
        let cells = inner.last?.allSatisfy { $0 == " " } == true ? inner.dropLast() : inner
        return cells.map { $0.replacing("\u{1}", with: "|").trimmingBlanks }
    }
}

extension StringProtocol {
    /// Without the blanks at both ends.
    var trimmingBlanks: String {
        String(self.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
