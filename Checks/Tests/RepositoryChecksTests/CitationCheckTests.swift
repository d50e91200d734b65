import RepositoryChecks
import Testing

/// The examples are written in parts, so that none of them is a citation of this file.
@Suite("Citations")
struct CitationCheckTests {
    private static let page = "Reference" + "/Wire.md"
    private static let path = "Documentation/" + page
    private static let text = """
        <a id="1"></a>

        ## 1. A

        <a id="1-4"></a>

        ### 1.4 B

        7. <a id="0-7"></a>C
        """

    private func findings(_ text: String, page: String = Self.text) -> [String] {
        let files = [SourceFile(path: Self.path, text: page), SourceFile(path: "A.swift", text: text)]
        return CitationCheck().findings(in: files).map(\.description)
    }

    @Test(
        "what is there may be cited",
        arguments: [
            "/// Sizes (\(page)#1-4).", "/// Sizes (\(page)#1-4, #1 and #0-7).", "/// \(page)#1 to #1-4: all",
            "// Written from \(page).", "/// Sizes (\(page)#1 and\n    /// #1-4).", "[sizes](\(page)#0-7)",
        ])
    func known(text: String) {
        #expect(findings(text) == [])
    }

    @Test("a page that is not there is named with the line of the citation")
    func missingPage() {
        let other = "Reference" + "/None.md"
        #expect(findings("\n/// See \(other)#1.") == ["A.swift:2: cites \(other), which is not there"])
    }

    @Test("an anchor that the page lacks is named, and a heading alone is none")
    func missingAnchor() {
        #expect(findings("/// \(Self.page)#1-5") == ["A.swift:1: cites \(Self.page)#1-5, and the page has no such anchor"])
        #expect(findings("/// \(Self.page)#14-b").count == 1)
    }

    @Test("each further section is looked for on the same page, also on the next line")
    func furtherSections() {
        #expect(findings("/// \(Self.page)#1, #2 and #3").count == 2)
        #expect(findings("/// \(Self.page)#1-4 to #1-8").count == 1)
        let broken = "    /// of \(Self.page)#1-4 and\n    /// #9, which"
        #expect(findings(broken) == ["A.swift:1: cites \(Self.page)#9, and the page has no such anchor"])
    }

    @Test("an anchor that a page has twice is found")
    func twice() {
        let page = "<a id=\"1\"></a>\n<a id=\"1\"></a>\n"
        #expect(findings("", page: page) == ["\(Self.path):2: has the anchor 1 a second time"])
    }

    @Test(
        "a number without a page is found",
        arguments: [
            "/// Credit (APNs " + "reference 1.5).", "/// Tags (Azure " + "reference 3.1).", "/// Keys (hub " + "reference 1.1)",
            "/// Files (iOS client " + "reference 5).", "/// From the client " + "reference, sections 2 and 3.",
            "// SETTINGS (" + "reference 1.4)", "/// Ranges (security " + "case 4).", "/// As in design " + "section 4.",
            "/// Credit (APNs\n/// " + "reference 1.5).", "/// Reference" + " section 3, form by form",
        ])
    func withoutPage(text: String) {
        let found = findings(text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("A.swift:1: ") == true)
    }

    @Test(
        "other references are left alone",
        arguments: [
            "/// RFC 9113 section 5.1", "/// the reference page has 12 chapters", "/// Counts references five times",
            "/// the security of 4 nodes",
        ])
    func others(text: String) {
        #expect(findings(text) == [])
    }
}
