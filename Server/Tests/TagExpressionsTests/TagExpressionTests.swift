import RichPushModel
import Testing

import struct RichPushModel.Tag

@testable import TagExpressions

@Suite("Tag expressions")
struct TagExpressionTests {
    private func tags(_ names: String...) -> Set<Tag> { Set(names.compactMap(Tag.stored)) }

    @Test(
        "! binds before &&, && before ||, and parentheses before all",
        arguments: [
            ("a || b && c", "a || b && c"), ("(a || b) && c", "(a || b) && c"), ("!a && b", "!a && b"),
            ("!(a && b)", "!(a && b)"),
            ("((a))", "a"), ("a||b||c", "a || b || c"), ("a || (b || c)", "a || b || c"), ("!!a", "!!a"),
            ("(a&&b)||c", "a && b || c"),
            ("  a\t&& !( b ) ", "a && !b"),
            ("$installationid:{Ab-1} || $UserId:{ann=1}", "$InstallationId:{Ab-1} || $UserId:{ann=1}"),
            ("straße_1 && @x#y.z:w-1", "straße_1 && @x#y.z:w-1"),
        ])
    func printing(_ text: String, _ canonical: String) throws {
        let expression = try TagExpression(parsing: text)
        #expect(expression.description == canonical)
        #expect(try TagExpression(parsing: canonical).description == canonical)
    }

    @Test("a tag has at most 120 scalars, however few characters they make")
    func tagLength() throws {
        #expect(Tag(String(repeating: "\u{1112}", count: 120)) != nil)
        #expect(Tag(String(repeating: "\u{1112}", count: 121)) == nil)
        #expect(Tag("\u{D55C}") != Tag("\u{1112}\u{1161}\u{11AB}"))
    }

    @Test("tags match without regard to case, ids of installations with regard to it")
    func matching() throws {
        #expect(try TagExpression(parsing: "News && !Old").matches(tags("NEWS")))
        #expect(try !TagExpression(parsing: "News && !Old").matches(tags("news", "old")))
        #expect(try TagExpression(parsing: "$INSTALLATIONID:{Ab}").matches(tags("$InstallationId:{Ab}")))
        #expect(try !TagExpression(parsing: "$InstallationId:{aB}").matches(tags("$InstallationId:{Ab}")))
    }

    @Test(
        "a text that is no expression says what is wrong and where",
        arguments: [
            ("", TagExpressionError.Reason.empty, 0), ("   ", .empty, 0), ("a b", .expectedOperator, 3),
            ("a &&", .expectedOperand, 5),
            ("&& a", .expectedOperand, 1), ("a & b", .unexpectedCharacter, 3), ("a | b", .unexpectedCharacter, 3),
            ("(a || b", .missingParenthesis, 1), ("a)", .expectedOperator, 2), ("()", .expectedOperand, 2),
            ("(a b)", .expectedOperator, 1),
            ("$Other:{a}", .malformedAddress, 1), ("$UserId:{a", .malformedAddress, 1), ("a || $UserId:{}", .malformedAddress, 6),
            ("a'; DROP TABLE devices; --", .malformedTag, 1), ("a || b\u{0}", .malformedTag, 6), ("a\nb", .malformedTag, 1),
            (String(repeating: "x", count: 121), .malformedTag, 1), ("$UserId:{a' OR 1=1", .malformedAddress, 1),
        ])
    func errors(_ text: String, _ reason: TagExpressionError.Reason, _ position: Int) {
        #expect(throws: TagExpressionError(reason, at: position)) { try TagExpression(parsing: text) }
    }

    @Test("twenty tags are allowed with || only, else six")
    func tagLimits() throws {
        func joined(_ count: Int, _ word: String) -> String { (1...count).map { "t\($0)" }.joined(separator: word) }
        #expect(try TagExpression(parsing: joined(20, "||")).tags.count == 20)
        #expect(throws: TagExpressionError(.tooManyTags(limit: 20), at: 92)) { try TagExpression(parsing: joined(21, "||")) }
        #expect(try TagExpression(parsing: joined(6, "&&")).tags.count == 6)
        #expect(throws: TagExpressionError(.tooManyTags(limit: 6), at: 25)) { try TagExpression(parsing: joined(7, "&&")) }
        #expect(throws: TagExpressionError.self) { try TagExpression(parsing: "!" + joined(7, "||")) }
        let built = TagExpression.any((1...21).compactMap { Tag("t\($0)").map(TagExpression.tag) })
        #expect(throws: TagExpressionError(.tooManyTags(limit: 20), at: 0)) { try built?.checkLimits() }
        #expect(TagExpression.any([]) == nil)
        #expect(TagExpression.all([]) == nil)
    }

    @Test("pathological input ends with an error, not with the stack", arguments: ["(", "!", "!(", "a||(", "((((a))))&&"])
    func bombs(_ part: String) {
        for count in [65, 500, 100_000] {
            #expect(throws: TagExpressionError.self) { try TagExpression(parsing: String(repeating: part, count: count)) }
        }
    }

    @Test("a nest of 64 is still read")
    func depth() throws {
        let text = String(repeating: "(", count: 64) + "a" + String(repeating: ")", count: 64)
        #expect(try TagExpression(parsing: text).description == "a")
        #expect(throws: TagExpressionError(.tooDeep, at: 65)) { try TagExpression(parsing: "(" + text + ")") }
    }

    @Test("what is built as a tree is not read as text")
    func trees() throws {
        let user = try #require(UserName("ann"))
        #expect(TagExpression.tag(.user(user)).description == "username:ann")
        #expect(Tag("a || b") == nil)
        #expect(Tag("$UserId:{ann}") == nil)
        #expect(Tag.addressing("$UserId:{a} || b}") == nil)
    }

    @Test(
        "the cheapest cover is chosen, and none is invented",
        arguments: [
            ("a", ["a"]), ("a || b", ["a", "b"]), ("a && b", ["a"]), ("b && a", ["a"]), ("!a && b", ["b"]), ("!a", nil),
            ("!a || b", nil),
            ("!(!a || b)", ["a"]), ("(b || c) && a", ["a"]), ("!(a || b)", nil), ("!!b", ["b"]), ("(!a || b) && c", ["c"]),
        ] as [(String, [String]?)])
    func plans(_ text: String, _ cover: [String]?) throws {
        let costs = ["a": 1, "b": 10, "c": 100]
        let plan = try TagExpression(parsing: text).plan { costs[$0.text] ?? 0 }
        #expect(plan == cover.map { .tags(Set($0.compactMap(Tag.init))) } ?? .scan)
    }
}
