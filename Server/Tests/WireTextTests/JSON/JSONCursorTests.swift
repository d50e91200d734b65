import Testing

@testable import WireText

@Suite("Walking over JSON")
struct JSONCursorTests {
    private func fault(_ text: String, depth: Int = 8) -> JSONFault? {
        do throws(JSONFault) {
            var cursor = JSONCursor(text, depthLimit: depth)
            cursor.skipBlanks()
            try cursor.skipValue()
            try cursor.end()
            return nil
        } catch { return error }
    }

    @Test(
        "a mistake is named with its beginning and the byte at which it shows",
        arguments: [
            ("", JSONFault.Problem.value, 0, 0), ("[x]", .value, 1, 1), ("[-]", .value, 1, 2), ("[tru]", .value, 1, 4),
            ("{1}", .name, 1, 1), ("{\"a\"}", .colon, 4, 4), ("{\"a\":1 2}", .commaOrBrace, 7, 7),
            ("[1 2]", .commaOrBracket, 3, 3),
            ("[1,]", .value, 3, 3), ("[1.]", .digit, 1, 3), ("[1e+]", .digit, 1, 4), ("[\"a]", .unterminatedString, 1, 4),
            ("[\"a\n\"]", .controlCharacter, 3, 3), ("[\"a\\", .unterminatedEscape, 3, 4), ("[\"a\\x\"]", .unknownEscape, 3, 5),
            ("[\"\\u12g4\"]", .malformedUnicodeEscape, 2, 6), ("[\"\\ud800\"]", .loneSurrogate, 2, 8),
            ("[\"\\ud800\\u0041\"]", .loneSurrogate, 2, 14), ("[\"\\udc00\"]", .loneSurrogate, 2, 8), ("[] 1", .end, 3, 3),
            ("[[[]]]", .tooDeep(limit: 2), 2, 2), ("[{\"a\":{}}]", .tooDeep(limit: 2), 6, 6),
        ])
    func mistakes(text: String, problem: JSONFault.Problem, start: Int, offset: Int) {
        #expect(fault(text, depth: 2) == JSONFault(problem, from: start, at: offset))
    }

    @Test(
        "every value is passed whole",
        arguments: ["0", "-1.5e+3", "true", "false", "null", "\"é😀\\n\"", "[]", "{}", " [1, {\"a\":[2]}] "])
    func values(text: String) { #expect(fault(text) == nil) }

    @Test("the depth counts what is open, not what was")
    func depth() { #expect(fault("[[],[],[[]]]", depth: 3) == nil) }

    @Test("a string says what its escapes stand for, each character with its byte")
    func strings() throws {
        var cursor = JSONCursor("\"a\\u00e9\\ud83d\\ude00é\\n\"")
        var other = cursor
        #expect(try cursor.string() == "aé😀é\n")
        #expect(cursor.peek == nil)
        var characters: [Unicode.Scalar] = []
        var places: [Int] = []
        let end = try other.string {
            characters.append($0); places.append($1)
        }
        #expect(String(String.UnicodeScalarView(characters)) == "aé😀é\n")
        #expect(places == [1, 2, 8, 20, 22])
        #expect(end == 24)
    }

    @Test("the names of an object come in order, and the fault for one that must not come again knows its place")
    func names() throws {
        var cursor = JSONCursor("{ \"a\" : 1 , \"\\u0061\":2}")
        var isFirst = true
        #expect(try cursor.nextName(&isFirst) == "a")
        #expect(try cursor.number() == 8..<9)
        #expect(try cursor.nextName(&isFirst) == "a")
        #expect(cursor.duplicateName == JSONFault(.duplicateName, from: 12, at: 20))
        try cursor.skipValue()
        #expect(try cursor.nextName(&isFirst) == nil)
        #expect(cursor.peek == nil)
    }

    @Test("bytes that are not UTF-8 are refused where they begin to be none")
    func encoding() {
        #expect(throws: JSONFault(.notUTF8, from: 2, at: 2)) {
            try JSONCursor(validating: [0x22, 0x61, 0xC0, 0xAF, 0x22], depthLimit: 1)
        }
    }
}
