import RichPushModel
import Testing

@testable import PushHub

@Suite("Sends in groups")
struct PushSplitTests {
    private func split(_ percents: [Int], key: String = "spring") throws -> PushSplit {
        try #require(PushSplit(key: key, percents: percents))
    }

    private func user(_ number: Int) throws -> PushRecipient { PushRecipient(user: try #require(UserName("user-\(number)"))) }

    @Test("each group has about its share of the users, and the rest is in none")
    func shares() throws {
        let split = try split([50, 30, 5])
        var counts: [Int: Int] = [:]
        for number in 0..<20_000 { counts[split.group(of: try user(number)), default: 0] += 1 }
        // Five times the standard deviation of a share of a half.
        for (group, percent) in [(1, 50), (2, 30), (3, 5), (0, 15)] {
            #expect(abs(counts[group, default: 0] - 200 * percent) < 360, "group \(group): \(counts)")
        }
    }

    @Test("a user stays in a group, and another key divides the users anew")
    func stable() throws {
        let (first, again, other) = (try split([50, 50]), try split([50, 50]), try split([50, 50], key: "autumn"))
        let users = try (0..<1_000).map(user)
        #expect(users.map(first.group) == users.map(again.group))
        let moved = users.count { first.group(of: $0) != other.group(of: $0) }
        #expect((400...600).contains(moved))
        // The group of one name, so that an upgrade moves no user.
        #expect(try [0, 1, 2, 3, 4, 5, 6, 7].map { first.group(of: try user($0)) } == Self.known)
    }

    private static let known = [2, 1, 2, 1, 1, 2, 1, 2]

    @Test("a hundred percent leave out no user, and one percent keeps most out")
    func ends() throws {
        let (all, few) = (try split([100]), try split([1]))
        let users = try (0..<10_000).map(user)
        #expect(users.allSatisfy { all.group(of: $0) == 1 })
        #expect((50...150).contains(users.count { few.group(of: $0) == 1 }))
    }

    @Test(
        "a split comes back from storage as it was",
        arguments: [("a", [100]), ("spring.2027_b-1", [1, 2, 3]), ("k", [10, 10, 10, 10, 10, 10, 10, 10, 10, 10])])
    func stored(_ key: String, _ percents: [Int]) throws {
        let split = try split(percents, key: key)
        #expect(PushSplit(stored: split.stored) == split)
    }

    @Test("a split outside the ranges is none")
    func bounds() {
        for percents in [[], [0], [101], [50, 51], [-1], Array(repeating: 1, count: 11)] {
            #expect(PushSplit(key: "k", percents: percents) == nil, "\(percents)")
        }
        for key in ["", "a b", "a\n", String(repeating: "a", count: 65), "ä"] {
            #expect(PushSplit(key: key, percents: [50]) == nil)
        }
        for text in ["", "50", "50 a b", "x a", "50,51 a"] { #expect(PushSplit(stored: text) == nil, "\(text)") }
    }

    @Test("a device counts for its user: the signed-in one before the one that a client of the hub protocol named")
    func recipients() throws {
        let device = try #require(RecordID("Phone"))
        let name = try #require(UserName("Ann"))
        let news = try #require(Tag("news"))
        let signedIn = PushRecipient(tags: [news, .user(name)], userID: "x", device: device)
        #expect(signedIn == PushRecipient(user: name) && signedIn.name == "username:ann")
        #expect(PushRecipient(tags: [news], userID: "Ann", device: device).name == "$userid:{Ann}")
        #expect(PushRecipient(tags: [], userID: nil, device: device).name == "device:Phone")
    }
}

@Suite("Translations for groups")
struct TranslationKeyTests {
    private func place(_ translations: String, _ languages: [String], _ group: Int) -> Int? {
        LanguagePreference(languages).best(of: TranslationKey.list(stored: translations), inGroup: group)
    }

    @Test("a group gets its own translations, in the reader's language or in none; other readers get none of a group")
    func choice() {
        let translations = "sv,@2,sv@2,de@2,@3"
        #expect(place(translations, ["sv"], 0) == 0)
        #expect(place(translations, ["sv"], 1) == 0)
        #expect(place(translations, ["sv-SE"], 2) == 2)
        #expect(place(translations, ["fr", "de"], 2) == 3)
        #expect(place(translations, ["fr"], 2) == 1)
        #expect(place(translations, [], 2) == 1)
        #expect(place(translations, ["sv"], 3) == 4)
        #expect(place(translations, ["de"], 0) == nil)
        #expect(place(translations, ["de"], 1) == nil)
    }

    @Test("keys come back from storage as they were, those of sends without groups in the old form")
    func stored() throws {
        let swedish = try #require(LanguageTag("sv-SE"))
        let keys = [TranslationKey(swedish), TranslationKey(nil, group: 10), TranslationKey(swedish, group: 2)]
        #expect(TranslationKey.stored(keys) == "sv-SE,@10,sv-SE@2")
        #expect(TranslationKey.list(stored: "sv-SE,@10,sv-SE@2") == keys)
        #expect(TranslationKey.stored([]) == nil)
        #expect(TranslationKey.list(stored: nil).isEmpty)
    }

    @Test("a choice keeps readers of other groups apart")
    func readers() {
        var choice = TranslationChoice(stored: "@1,@2")
        for _ in 0..<2 {
            #expect(choice.number(for: "sv", inGroup: 1) == TemplateID(1))
            #expect(choice.number(for: "sv", inGroup: 2) == TemplateID(2))
            #expect(choice.number(for: "sv") == nil)
        }
    }
}
