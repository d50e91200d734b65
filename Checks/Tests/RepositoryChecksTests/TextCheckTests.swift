import RepositoryChecks
import Testing

@Suite("Texts")
struct TextCheckTests {
    private func findings(_ text: String) -> [Finding] { TextCheck().findings(in: [SourceFile(path: "a.md", text: text)]) }

    @Test("a path of one machine is found")
    func paths() {
        #expect(findings("see /" + "home/somebody/notes").count == 1)
        #expect(findings("see Documentation/Settings.md").isEmpty)
    }

    @Test("a private key is found, the name of its first line is not")
    func keys() {
        let body = String(repeating: "QUFB", count: 16)
        #expect(findings("-----BEGIN PRIVATE " + "KEY-----\n\(body)\n").count == 1)
        #expect(findings("A .p8 begins with -----BEGIN PRIVATE " + "KEY-----\nand ends likewise.").isEmpty)
    }
}
