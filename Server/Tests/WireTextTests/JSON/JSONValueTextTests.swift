import RichPushModel
import Testing
import WireText

@Suite("Values of JSON, read from bytes")
struct JSONValueTextTests {
    private func value(_ text: String) -> JSONValue? { JSONValue(json: Array(text.utf8)) }

    @Test("a text of JSON is read, and anything else is none")
    func read() {
        #expect(value(#"{"a":[1,"b"]}"#) == .object(["a": .list([.integer(1), .text("b")])]))
        for text in ["", "{", "<html>", "{} {}"] { #expect(value(text) == nil, "\(text)") }
    }

    @Test("a text that is empty counts as none")
    func text() {
        #expect(value(#""a""#)?.text == "a")
        #expect(value(#""""#)?.text == nil)
        #expect(value("7")?.text == nil)
    }

    @Test("what is no list has no elements")
    func elements() {
        #expect(value("[7]")?.elements == [.integer(7)])
        #expect(value(#"{"a":7}"#)?.elements == [])
    }
}
