import RepositoryChecks
import Testing

@Suite("Links between pages")
struct LinkCheckTests {
    private let paths = ["README.md", "Documentation/Guide.md", "Documentation/Images/phone.png", "Sources/A.swift"]

    private func findings(_ text: String, at path: String = "Documentation/Guide.md") -> [String] {
        let other = SourceFile(path: "README.md", text: "# Clarion\n\n## What happens, then?\n\n## Run it\n\n## Run it\n")
        return LinkCheck().findings(in: [SourceFile(path: path, text: text), other], paths: paths).map(\.description)
    }

    @Test(
        "what is there is found",
        arguments: [
            "[a](../README.md)", "[a](../README.md#what-happens-then)", "[a](../README.md#run-it-1)", "![a](Images/phone.png)",
            "[a](Images)", "# Own words\n[a](#own-words)", "[a](https://example.org/none)", "`[a](none.md)`", "    [a](none.md)",
            "```\n[a](none.md)\n```", "[a](../Sources/A.swift)", "[a](mailto:a@example.org)",
        ])
    func found(text: String) {
        #expect(findings(text) == [])
    }

    @Test("a page that is not there is named with the line of its link")
    func missingPage() {
        #expect(findings("\nsee [a](None.md).") == ["Documentation/Guide.md:2: links to None.md, which is not there"])
        #expect(findings("[a](README.md)").count == 1)
        #expect(findings("[a](../README.md) and [b](x.md), [c](y.md)").count == 2)
    }

    @Test("a heading that is not there is named with its page")
    func missingHeading() {
        #expect(
            findings("[a](../README.md#gone)")
                == ["Documentation/Guide.md:1: links to ../README.md#gone, and README.md has no such heading"])
        #expect(findings("[a](#gone)").count == 1)
        #expect(findings("[a](../README.md#run-it-2)").count == 1)
    }

    @Test("a page of the documentation that its index does not link to is named")
    func unlisted() {
        func findings(index: String) -> [String] {
            let pages = [
                ("Documentation/README.md", index), ("Documentation/Guide.md", ""), ("Documentation/Decisions/one.md", ""),
            ]
            return LinkCheck().findings(
                in: pages.map { SourceFile(path: $0.0, text: $0.1) }, paths: paths + ["Documentation/README.md"]
            ).map(\.description)
        }
        #expect(findings(index: "[a](Guide.md)") == [])
        #expect(findings(index: "a") == ["Documentation/Guide.md: is not in the index, Documentation/README.md"])
    }

    @Test("catalogs of DocC are left to DocC")
    func catalogs() {
        #expect(findings("[a](None.md)", at: "Sources/X/Documentation.docc/X.md") == [])
    }
}
