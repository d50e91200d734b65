import Testing

@testable import SharedAccess

@Suite struct AccessRuleTests {
    @Test(
        "a hub starts with a rule that listens and one that may do all, with four keys of 44 characters that end in one equals sign"
    )
    func defaults() {
        let rules = AccessRule.defaults()
        #expect(rules.map(\.name) == ["DefaultListenSharedAccessSignature", "DefaultFullSharedAccessSignature"])
        #expect(rules.map(\.rights) == [[.listen], [.listen, .send, .manage]])
        let keys = rules.flatMap { [$0.primary.text, $0.secondary.text] }
        #expect(Set(keys).count == 4)
        #expect(keys.allSatisfy { $0.count == 44 && $0.hasSuffix("=") && !$0.hasSuffix("==") })
    }

    @Test("rights are kept as words in one order")
    func words() {
        #expect(Set<AccessRight>([.manage, .listen]).text == "Listen,Manage")
        #expect(Set<AccessRight>(text: "manage,Listen") == [.listen, .manage])
        #expect(Set<AccessRight>(text: "") == [])
        #expect(Set<AccessRight>(text: "Listen,Own") == nil)
    }

    @Test("a rule is printed without its keys")
    func redacted() {
        let rule = SignatureSamples.rule
        var dumped = ""
        dump(rule, to: &dumped)
        for text in ["\(rule)", String(reflecting: rule), dumped, "\(rule.primary)"] {
            #expect(!text.contains(rule.primary.text))
        }
        #expect(dumped.contains(rule.name))
    }

    @Test("names are what every client carries unchanged")
    func names() {
        #expect(AccessRule.isName("Default.Full-1_x"))
        for name in ["", "a b", "a;b", "a&b", "ä", String(repeating: "a", count: 257)] { #expect(!AccessRule.isName(name)) }
    }
}
