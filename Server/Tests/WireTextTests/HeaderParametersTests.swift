import Testing
import WireText

@Suite("Headers with parameters")
struct HeaderParametersTests {
    @Test("are read with tokens, quotes and blanks")
    func reading() throws {
        let header = try #require(HeaderParameters("multipart/form-data ; Boundary=\"a b\" ;charset=utf-8;"))
        #expect(header.value == "multipart/form-data")
        #expect(header.parameters == ["boundary": "a b", "charset": "utf-8"])
        #expect(HeaderParameters("a; n=\"x\\\"y\\\\z\\w\"")?.parameters["n"] == "x\"y\\z\\w")
    }

    @Test(
        "that are malformed are none", arguments: ["", "; a=b", "a; b", "a; =b", "a; b=", "a; b=\"c", "a; b=c; b=d", "a; b=c d"])
    func malformed(header: String) {
        #expect(HeaderParameters(header) == nil)
    }

    @Test("of old clients are read with all that they write otherwise")
    func lenient() {
        let header = HeaderParameters(
            lenient: "Multipart/Mixed ; Boundary = \"a \\b\\\"c\" x; charset = utf 8;;d; name=a; NAME=b")
        #expect(header.value == "Multipart/Mixed")
        #expect(header.parameters == ["boundary": "a b\"c", "charset": "utf 8", "name": "a"])
        #expect(HeaderParameters(lenient: "a; b=\"c").parameters == ["b": "c"])
        #expect(HeaderParameters(lenient: "").parameters.isEmpty)
    }

    @Test("of which the first sixteen count in a lenient reading")
    func bound() {
        let header = "a" + (0..<20).map { "; p\($0)=\($0)" }.joined()
        #expect(HeaderParameters(lenient: header).parameters.count == 16)
    }
}
