import RepositoryChecks
import Testing

@Suite("Vocabulary")
struct VocabularyCheckTests {
    private static let glossary = """
        | Term | Meaning | Not this |
        | --- | --- | --- |
        | inactive token | A token. | parked, kept aside |
        | lease | A claim. | |

        | Write | Not this |
        | --- | --- |
        | If the session cannot be read | Who cannot |
        """

    private func count(_ word: String, _ text: String, path: String = "Documentation/Guide.md") -> Int? {
        VocabularyCheck(glossary: Self.glossary).counts(in: [SourceFile(path: path, text: text)])["word \(word)"]
    }

    @Test("the words are those of the columns that are headed so")
    func words() {
        #expect(VocabularyCheck(glossary: Self.glossary).words == ["parked", "kept aside", "Who cannot"])
    }

    @Test("a word counts as a whole and in any spelling")
    func whole() {
        #expect(count("parked", "Parked, and parked: unparked.") == 2)
    }

    @Test("a phrase counts over the end of a line")
    func phrases() {
        #expect(count("kept aside", "A token is kept\naside. It is kept.") == 1)
        #expect(count("kept aside", "// kept\n// aside\n", path: "Sources/A/A.swift") == 1)
    }

    @Test("a word with a capital counts only as it stands")
    func capitals() {
        #expect(count("Who cannot", "Who cannot read. A user who cannot read.") == 1)
    }

    @Test("of sources the comments and texts count, and no names")
    func sources() {
        let text = "let parked = \"parked\" // a parked one, `parked`\n/* parked */ func parked() {}\n"
        #expect(count("parked", text, path: "Server/Sources/A/A.swift") == 3)
        #expect(count("parked", text, path: "Server/Lab/A/A.swift") == 3)
    }

    @Test("names in backticks and code do not count in pages")
    func code() {
        #expect(count("parked", "`parked` and\n\n    parked\n") == 0)
    }

    @Test("tests and the glossary itself do not count")
    func elsewhere() {
        #expect(count("parked", "// parked", path: "Server/Tests/A.swift") == 0)
        #expect(count("parked", "parked", path: "Documentation/Glossary.md") == 0)
    }
}
