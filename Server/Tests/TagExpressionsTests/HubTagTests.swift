import RichPushModel
import Testing

@testable import TagExpressions

/// Reference/AzureNotificationHubs.md#3, form by form: what the clients of the hub protocol send as tags and as expressions.
@Suite("Tags of the hub protocol")
struct HubTagTests {
    @Test(
        "the ways in which clients join tags all mean the same",
        arguments: ["red||blue", "red || blue", "red,blue", "red , blue", "(red,blue)", "(red)||blue", "\tred||\tblue "])
    func joined(_ text: String) throws {
        #expect(try TagExpression(parsing: text, commas: .joinAlternatives).description == "red || blue")
    }

    @Test("a comma binds like ||, and only where it was asked for")
    func commas() throws {
        #expect(
            try TagExpression(parsing: "a && b, !c", commas: .joinAlternatives)
                == .or(.and(tag("a"), tag("b")), .not(tag("c"))))
        #expect(throws: TagExpressionError(.malformedTag, at: 1)) { try TagExpression(parsing: "red,blue") }
    }

    @Test(
        "commas without a tag between them are mistakes with their place",
        arguments: [(",a", 1), ("a,", 3), ("a,,b", 3), ("a, ,b", 4), ("a&&,b", 4), (",", 1), ("(,)", 2)])
    func loneCommas(_ text: String, _ position: Int) {
        #expect(throws: TagExpressionError(.expectedOperand, at: position)) {
            try TagExpression(parsing: text, commas: .joinAlternatives)
        }
    }

    @Test("commas count as alternatives: twenty tags, and six beside another operator")
    func limits() throws {
        func joined(_ count: Int) -> String { (1...count).map { "t\($0)" }.joined(separator: ",") }
        #expect(try TagExpression(parsing: joined(20), commas: .joinAlternatives).tags.count == 20)
        #expect(throws: TagExpressionError(.tooManyTags(limit: 20), at: 72)) {
            try TagExpression(parsing: joined(21), commas: .joinAlternatives)
        }
        #expect(throws: TagExpressionError(.tooManyTags(limit: 6), at: 20)) {
            try TagExpression(parsing: "!" + joined(7), commas: .joinAlternatives)
        }
    }

    @Test(
        "the documented examples are read as they are meant",
        arguments: [
            ("(follows_red || follows_blue) && city_Oslo", ["follows_blue", "city_oslo"], true),
            ("(follows_red || follows_blue) && city_Oslo", ["follows_red"], false),
            ("follows_red || follows_blue && city_Oslo", ["follows_red"], true),
            ("$InstallationId:{7d1f-22}", ["$InstallationId:{7d1f-22}"], true),
            ("$InstallationId:{7d1f-22}", ["$UserId:{7d1f-22}"], false),
            ("vip && !$UserId:{ann}", ["VIP", "$UserId:{bob}"], true),
            ("vip && !$UserId:{ann}", ["vip", "$UserId:{ann}"], false),
            ("vip && !city:Oslo", ["vip"], true), ("!!vip", ["vip"], true), ("!(a || b)", ["c"], true), ("!a", [], true),
            ("$installationid:{A}||$USERID:{u}", ["$UserId:{u}"], true),
        ] as [(String, [String], Bool)])
    func examples(_ text: String, _ names: [String], _ matches: Bool) throws {
        #expect(try TagExpression(parsing: text, commas: .joinAlternatives).matches(Set(names.compactMap(Tag.stored))) == matches)
    }

    @Test(
        "every character that the official client lets pass is read",
        arguments: ["a@b#c.d:e-f_1", "हिन्दी", "e\u{301}t\u{E9}", "Straße", "日本", "a‿b", "٣"])
    func characters(_ text: String) throws {
        #expect(Tag(text)?.text == text)
        #expect(try TagExpression(parsing: "!" + text).tags.map(\.text) == [text])
        #expect(Tag.addressing("$UserId:{\(text)=}") != nil)
    }

    @Test(
        "what no tag may contain is refused",
        arguments: ["a b", "a/b", "a%b", "a{b", "a}", "a=b", "$a", "a,b", "a\u{200B}b", "😀", "a\u{0}"])
    func noCharacters(_ text: String) {
        #expect(Tag(text) == nil)
    }

    @Test("a registration's list is split at commas, trimmed, without empty places and repetitions")
    func lists() throws {
        let list = try RegistrationTags(
            separatedByCommas: " city:Oslo , vip,,VIP\t, $InstallationId:{7d1f} ,$UserId:{ann},$userid:{ann},")
        #expect(list.tags.map(\.text) == ["city:Oslo", "vip"])
        #expect(list.addresses.map(\.text) == ["$InstallationId:{7d1f}", "$UserId:{ann}"])
        #expect(
            try RegistrationTags(separatedByCommas: "").tags.isEmpty && RegistrationTags(separatedByCommas: " , ").tags.isEmpty)
        #expect(try RegistrationTags(["b", "a"]).tags.map(\.text) == ["b", "a"])
    }

    @Test(
        "a list that breaks a rule says at which tag",
        arguments: [
            (["a", "b c"], RegistrationTagsError.Reason.malformedTag, 2), ([""], .malformedTag, 1),
            (["a", " b"], .malformedTag, 2),
            ([String(repeating: "x", count: 121)], .malformedTag, 1), (["$Other:{a}"], .malformedAddress, 1),
            (["$UserId:{}"], .malformedAddress, 1),
            (["$UserId:{a}", "$UserId:{b}"], .repeatedAddress, 2), (["$UserId:{a}", "$userid:{A}"], .repeatedAddress, 2),
            ((1...61).map { "t\($0)" }, .tooManyTags, 61),
        ])
    func listMistakes(_ texts: [String], _ reason: RegistrationTagsError.Reason, _ position: Int) {
        #expect(throws: RegistrationTagsError(reason, at: position)) { try RegistrationTags(texts) }
    }

    @Test("sixty tags fit, and special ones and repetitions do not count")
    func sixty() throws {
        let texts = (1...60).map { "t\($0)" } + ["T1", "$InstallationId:{a}", "$UserId:{b}"]
        #expect(try RegistrationTags(texts).tags.count == 60)
    }

    /// Names of users as identity providers make them, and values that are one character with the brace beside them.
    static let names = [
        "auth0|42", "ann+news@example.com", "EXAMPLE\\ann", "a b", "a,b", "user/1", "x{y", "'q\"", "%7D", "Ünï", " a ", "🙂",
        "\u{301}a", "a\u{600}", "&&", "(a)||!b", "<a&b>", String(repeating: "é", count: 256),
    ]

    @Test("braces hold any name, and an expression with it means just that user", arguments: names)
    func oddNames(_ name: String) throws {
        let user = try #require(Tag.addressedUser(name))
        let other = try #require(Tag.addressedUser("-" + name.dropFirst()))
        for text in ["$UserId:{\(name)}", "$USERID:{\(name)} ", "(vip && !$userid:{\(name)}) || $UserId:{\(name)}"] {
            let expression = try TagExpression(parsing: text, commas: .joinAlternatives)
            #expect(expression.matches([user]))
            #expect(!expression.matches([other]))
            #expect(try TagExpression(parsing: expression.description) == expression)
        }
        let list = try RegistrationTags(separatedByCommas: "red, $InstallationId:{\(name)} ,$UserId:{\(name)},blue")
        #expect(list.tags.map(\.text) == ["red", "blue"])
        #expect(list.addresses.last == user)
        #expect(list.addresses.count == 2)
    }

    @Test(
        "a name with a brace, a control character or more than 256 characters cannot be",
        arguments: ["a}b", "", "a\u{0}", "a\nb", "\u{7F}", "\u{85}", "\u{FFFF}", String(repeating: "é", count: 257)])
    func impossibleNames(_ name: String) {
        #expect(Tag.addressedUser(name) == nil)
        #expect(Tag.addressedInstallation(name) == nil)
        #expect(throws: RegistrationTagsError(.malformedAddress, at: 1)) { try RegistrationTags(["$UserId:{\(name)}"]) }
    }

    @Test("chosen tags keep their alphabet, and only what looks like one is plain to every client")
    func plain() throws {
        #expect(Tag("auth0|42") == nil)
        #expect(Tag("a b") == nil)
        #expect(Tag("a,b") == nil)
        for (name, isPlain) in [
            ("ann", true), ("a=b@c#d", true), ("Ünï٣", true), ("auth0|42", false), ("a b", false), ("a,b", false), ("x²", false),
            ("½", false),
            ("\u{1D400}", false),
        ] {
            #expect(try #require(Tag.addressedUser(name)).hasPlainAddress == isPlain)
        }
    }

    private func tag(_ text: String) -> TagExpression { .tag(Tag(text)!) }
}
