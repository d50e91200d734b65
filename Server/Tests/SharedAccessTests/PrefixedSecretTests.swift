import Testing

@testable import SharedAccess

@Suite struct PrefixedSecretTests {
    @Test("the checksum of GitHub's published example is the published one")
    func publishedExample() {
        let digits = Array("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ".utf8)
        #expect(String(decoding: PrefixedSecret.checksum(of: digits), as: UTF8.self) == "0mLq17")
    }

    @Test("a secret reads back from its text", arguments: PrefixedSecret.Kind.allCases)
    func readsBack(_ kind: PrefixedSecret.Kind) throws {
        let secret = PrefixedSecret(kind)
        let read = try #require(PrefixedSecret(text: secret.text))
        #expect(read.kind == kind)
        #expect(read.digest == secret.digest)
    }

    @Test("the text has the form that scanners look for")
    func form() {
        #expect(PrefixedSecret(.serviceKey).text.wholeMatch(of: /clk_[0-9A-Za-z]{49}/) != nil)
        #expect(PrefixedSecret(.signInToken).text.wholeMatch(of: /clt_[0-9A-Za-z]{49}/) != nil)
    }

    @Test("each single wrong character is noticed")
    func typingErrors() {
        let text = Array(PrefixedSecret(.serviceKey).text)
        for index in text.indices {
            var wrong = text
            wrong[index] = wrong[index] == "x" ? "y" : "x"
            #expect(PrefixedSecret(text: String(wrong)) == nil, "position \(index)")
        }
    }

    @Test(
        "other texts are no secret",
        arguments: [
            "", "clk_", "clk_é", "CLK_", String(repeating: "c", count: 10_000), "clk_\(String(repeating: "0", count: 50))",
        ])
    func otherTexts(_ text: String) {
        #expect(PrefixedSecret(text: text) == nil)
    }

    @Test("two secrets differ, and printing one does not show it")
    func randomAndHidden() {
        let (one, other) = (PrefixedSecret(.serviceKey), PrefixedSecret(.serviceKey))
        #expect(one.text != other.text)
        #expect(!"\(one)".contains(one.text.dropFirst(4).prefix(8)))
    }
}
