import PushHub
import Testing

@Suite("Languages of readers and sends")
struct LanguageTagTests {
    private static func best(of available: [String], for preference: LanguagePreference) -> String? {
        preference.best(of: available.map { TranslationKey(LanguageTag($0)) }).map { available[$0] }
    }

    @Test(
        "the lookup takes the first language that fits, and shortens each from its end",
        arguments: [
            (["sv"], ["de", "sv"], "sv"), (["sv-SE"], ["de", "sv"], "sv"), (["SV_se"], ["sv"], "sv"),
            (["sv-SE"], ["sv", "sv-SE"], "sv-SE"), (["sv"], ["sv-SE"], nil), (["pt-PT"], ["pt-BR"], nil),
            (["fr", "de"], ["de", "sv"], "de"), (["fr-CA", "sv"], ["sv", "fr"], "fr"),
            (["zh-Hant-CN-x-private1-private2"], ["zh-Hant"], "zh-Hant"), (["zh-Hant-CN-x-wadegile"], ["zh-Hant-CN-x"], nil),
            (["de-CH-1996"], ["de-CH"], "de-CH"), (["*"], ["de"], nil), ([], ["de"], nil), (["de"], [], nil),
        ] as [([String], [String], String?)])
    func lookup(_ wanted: [String], _ available: [String], _ expected: String?) {
        #expect(Self.best(of: available, for: LanguagePreference(wanted)) == expected)
    }

    @Test("a single letter goes with what stands behind it")
    func singletons() {
        // A tag that ends with a single letter is none, but it can be read.
        #expect(Self.best(of: ["de-x", "de"], for: LanguagePreference(["de-x-y"])) == "de")
    }

    @Test(
        "Accept-Language is read by its weights",
        arguments: [
            ("sv", "sv"), ("de;q=0.5, sv", "sv,de"), ("de;q=0.5,sv;q=0.9,en", "en,sv,de"), ("sv;q=0, de", "de"),
            ("de , sv ; q=0.8", "de,sv"), ("*;q=0.5", ""), ("", ""), ("sv;q=x, de;q=0.1", "de"), ("not a tag, sv", "notatag,sv"),
            ("sv-SE;level=1;q=0.2,fi", "fi,sv-se"), (",,;q=1,", ""),
        ])
    func header(_ field: String, _ expected: String) {
        #expect(LanguagePreference(acceptLanguage: field).stored == expected)
    }

    @Test("a preference keeps eight languages, each once, and none that is malformed")
    func bounds() {
        let many = (0..<20).map { "l\($0)" }
        #expect(LanguagePreference(many).tags.map(\.text) == Array(many.prefix(8)))
        #expect(LanguagePreference(["sv", "SV", "de"]).stored == "sv,de")
        let malformed = ["", "-", "sv-", "s v", "sv,de", "språk", "toolongpart", String(repeating: "ab-", count: 12) + "c"]
        #expect(LanguagePreference(malformed).tags.isEmpty)
    }

    @Test("a preference comes back from storage as it was")
    func stored() {
        let preference = LanguagePreference(["sv-SE", "de", "pt-BR"])
        #expect(LanguagePreference(stored: preference.stored) == preference)
        #expect(LanguagePreference(stored: "") == LanguagePreference([]))
    }

    @Test("a choice answers the same for the same preference, and nothing for a send without translations")
    func choice() {
        var choice = TranslationChoice(stored: "de,sv")
        #expect(choice.isNeeded)
        for _ in 0..<2 {
            #expect(choice.number(for: "sv-SE,de") == TemplateID(2))
            #expect(choice.number(for: "fr") == nil)
        }
        for number in 0..<2_000 { #expect(choice.number(for: "l\(number % 10)\(number),de") == TemplateID(1)) }
        #expect(choice.number(for: "sv") == TemplateID(2))
        #expect(!TranslationChoice(stored: nil).isNeeded)
    }
}
