import Testing
import WireText

@Suite("Percent encoding")
struct PercentEncodingTests {
    @Test("escapes all but the unreserved characters")
    func encoding() {
        #expect(PercentEncoding.encode("aZ09-_.~") == "aZ09-_.~")
        #expect(PercentEncoding.encode("a b/c+d=e&ü") == "a%20b%2Fc%2Bd%3De%26%C3%BC")
        #expect(PercentEncoding.encode("/=", uppercase: false) == "%2f%3d")
        #expect(PercentEncoding.encode("/a b/c", keepsSlashes: true) == "/a%20b/c")
    }

    @Test("decodes once, and a plus is a blank only where it is asked to be")
    func decoding() {
        #expect(PercentEncoding.decode("1%2B+%C3%A9%2541") == "1++é%41")
        #expect(PercentEncoding.decode("1%2B+", plusIsBlank: true) == "1+ ")
        #expect(PercentEncoding.decodeLeniently("a+%c3%A9", plusIsBlank: true) == "a é")
    }

    @Test(
        "that is broken is refused, or stays where it is read leniently",
        arguments: [
            ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%4g%41", "%4gA"), ("%%41", "%A"), ("%+1", "%+1"),
            ("%C0%AF", "\u{FFFD}\u{FFFD}"),
        ])
    func broken(text: String, lenient: String) {
        #expect(PercentEncoding.decode(text) == nil)
        #expect(PercentEncoding.decodeLeniently(text) == lenient)
    }
}
