import Testing
import WireText

@Suite("JSON as text")
struct JSONTextTests {
    @Test("JSON strings are escaped so that no text leaves its place")
    func json() {
        #expect(JSONText.string("a\"b\\c\u{1}\n\u{2028}é") == "\"a\\\"b\\\\c\\u0001\\n\u{2028}é\"")
        #expect(JSONText.object([("a", "1"), ("b", nil), ("c", "2")]) == #"{"a":1,"c":2}"#)
    }
}
