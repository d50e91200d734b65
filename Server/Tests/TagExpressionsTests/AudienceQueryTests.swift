import RichPushModel
import TagExpressions
import Testing

import struct RichPushModel.Tag

@Suite("Compiled audiences")
struct AudienceQueryTests {
    private func query(_ text: String, costs: [String: Int] = [:]) throws -> AudienceQuery {
        try AudienceQuery(TagExpression(parsing: text)) { costs[$0.folded] ?? 1 }
    }

    @Test("what the cover answers is not compared again")
    func rests() throws {
        #expect(try query("a").rest == nil)
        #expect(try query("a || B || c").rest == nil)
        #expect(try query("a || B || c").cover == .tags(["a", "b", "c"]))
        #expect(try query("(a || b) && !c").cover == .tags(["a", "b"]))
        #expect(try query("(a || b) && !c").rest?.tags == ["c"])
        #expect(try query("(a || b) && (b || a)").rest == nil)
        #expect(try query("!a").cover == .everyRecord)
        #expect(try query("!a").rest?.tags == ["a"])
    }

    @Test("the cover is the one that costs least")
    func covers() throws {
        #expect(try query("a && b", costs: ["a": 2]).cover == .tags(["b"]))
        #expect(try query("a && b", costs: ["b": 2]).cover == .tags(["a"]))
        #expect(try query("(a || b) && c", costs: ["c": 3]).cover == .tags(["a", "b"]))
    }

    @Test("an expression that is always true compares nothing, one that is never true finds no record")
    func constants() throws {
        let always = try query("a || !a")
        #expect(always.cover == .everyRecord)
        #expect(always.rest == nil)
        let none = try query("a && !a")
        let tag = try #require(Tag("a"))
        #expect(!none.matches([]))
        #expect(!none.matches([tag]))
    }

    @Test("no expression means every record")
    func everyRecord() throws {
        let query = try AudienceQuery(nil)
        #expect(query.cover == .everyRecord)
        #expect(query.rest == nil)
        #expect(query.matches([]))
        #expect(AudienceQuery(stored: query.stored) == query)
    }

    @Test("twenty tags with || alone are compiled, and what is over the limits is refused")
    func limits() throws {
        let tags = (0..<21).compactMap { Tag("t\($0)") }.map(TagExpression.tag)
        let twenty = try #require(TagExpression.any(Array(tags.prefix(20))))
        let query = try AudienceQuery(twenty)
        #expect(query.rest == nil)
        #expect(AudienceQuery(stored: query.stored) == query)
        let more = try #require(TagExpression.any(tags))
        #expect(throws: TagExpressionError.self) { try AudienceQuery(more) }
        let seven = try #require(TagExpression.all(Array(tags.prefix(7))))
        #expect(throws: TagExpressionError.self) { try AudienceQuery(seven) }
    }

    @Test("tags of users and installations keep their text, commas and blanks included")
    func addresses() throws {
        let query = try query("$UserId:{Ann, of the North} && !$InstallationId:{P-1}")
        #expect(query.cover == .tags(["$userid:{Ann, of the North}"]))
        #expect(query.rest?.tags == ["$installationid:{P-1}"])
        #expect(AudienceQuery(stored: query.stored) == query)
    }

    @Test(
        "a text that is no stored query, or of another version, is not read",
        arguments: [
            "", "1", "2\n*", "1\n0", "1\n3\na\nb", "1\n*\n5", "1\n1\na\n-1\nb", "1\nx\na", "1\n*\n1\na\nb\nc\nd\ne\nf\ng",
        ])
    func noise(_ text: String) { #expect(AudienceQuery(stored: text) == nil) }
}
