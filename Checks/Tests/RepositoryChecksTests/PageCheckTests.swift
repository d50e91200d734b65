import RepositoryChecks
import Testing

@Suite("Pages")
struct PageCheckTests {
    private func count(_ rule: String, _ text: String, path: String = "Documentation/Guide.md") -> Int? {
        PageCheck().places(in: [SourceFile(path: path, text: text)])["\(rule) \(path)"]?.count
    }

    private func words(_ count: Int) -> String { Array(repeating: "word", count: count).joined(separator: " ") }

    @Test("a table cell of two hundred characters is short enough, one of two hundred and one is not")
    func cells() {
        func table(_ length: Int) -> String { "| a | b |\n| --- | --- |\n| c | \(String(repeating: "x", count: length)) |\n" }
        #expect(count("cell", table(200)) == 0)
        #expect(count("cell", table(201)) == 1)
    }

    @Test("the address of a link does not count in a cell")
    func links() {
        let link = "[a](https://example.com/\(String(repeating: "x", count: 300)))"
        #expect(count("cell", "| \(link) | b |\n") == 0)
    }

    @Test("a sentence of thirty words is short enough, one of thirty-one is not")
    func sentences() {
        #expect(count("sentence", words(30) + ".") == 0)
        #expect(count("sentence", words(31) + ".") == 1)
    }

    @Test("a sentence goes on over lines, and a full stop, a list item or a heading ends it")
    func ends() {
        #expect(count("sentence", words(20) + "\n" + words(20)) == 1)
        #expect(count("sentence", words(20) + ". " + words(20)) == 0)
        #expect(count("sentence", words(20) + "\n- " + words(20)) == 0)
        #expect(count("sentence", "## " + words(20) + "\n" + words(20)) == 0)
    }

    @Test("a full stop within a word ends no sentence")
    func marks() {
        #expect(count("sentence", words(20) + " 1.4 " + words(20)) == 1)
    }

    @Test("sentences in table cells count")
    func sentencesInCells() {
        #expect(count("sentence", "| " + words(31) + " | b |\n") == 1)
    }

    @Test("code does not count")
    func code() {
        #expect(count("sentence", "    " + words(40)) == 0)
        #expect(count("sentence", "```\n" + words(40) + "\n```\n") == 0)
        #expect(count("sentence", words(29) + " `" + words(5) + "`.") == 0)
    }

    @Test("pages that a program writes are exempt")
    func exempt() {
        #expect(count("sentence", words(40), path: "Documentation/Settings.md") == nil)
        #expect(count("sentence", words(40), path: "README.md") == 1)
    }
}
