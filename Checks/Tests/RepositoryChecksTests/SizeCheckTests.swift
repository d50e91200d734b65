import RepositoryChecks
import Testing

@Suite("Sizes")
struct SizeCheckTests {
    private func findings(_ text: String) -> [String] {
        SizeCheck().findings(in: [SourceFile(path: "A.swift", text: text)]).map(\.description)
    }

    private func function(lines: Int) -> String {
        "struct A {\n    func run() {\n" + String(repeating: "        work() // {\n", count: lines - 2) + "    }\n}\n"
    }

    @Test("a function of sixty lines is short enough, one of sixty-one is not")
    func functions() {
        #expect(findings(function(lines: 60)).isEmpty)
        #expect(findings(function(lines: 61)) == ["A.swift:2: run has 61 lines, more than 60"])
    }

    @Test("braces in strings and comments do not count")
    func literals() {
        let text =
            "func a() {\n    b(\"{{{\\\"{\")\n    /* { */\n    c(\"\"\"\n    {\n    \"\"\")\n}\n"
            + String(repeating: "let x = 1\n", count: 80)
        #expect(findings(text).isEmpty)
    }

    @Test("a requirement of a protocol is not as long as what follows it")
    func requirements() {
        let body = String(repeating: "    let x = 1\n", count: 80)
        #expect(findings("protocol A {\n    func b()\n}\nstruct C {\n\(body)}\n").isEmpty)
    }

    @Test("a file of more than five hundred lines is too long")
    func files() {
        #expect(findings(String(repeating: "let x = 1\n", count: 500)).isEmpty)
        #expect(findings(String(repeating: "let x = 1\n", count: 501)) == ["A.swift: has 501 lines, more than 500"])
    }
}
