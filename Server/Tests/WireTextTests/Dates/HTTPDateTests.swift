import RichPushModel
import Testing
import WireText

@Suite("Dates of HTTP")
struct HTTPDateTests {
    @Test(
        "are written as servers may send them, and read back",
        arguments: [
            (Int64(0), "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_369_353_601, "Fri, 24 May 2013 00:00:01 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (1_772_359_200, "Sun, 01 Mar 2026 10:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func dates(seconds: Int64, text: String) {
        #expect(HTTPDate.text(Timestamp(seconds: seconds)) == text)
        #expect(HTTPDate.moment(text) == Timestamp(seconds: seconds))
    }

    @Test("before 1970 the name of the day is right too")
    func early() { #expect(HTTPDate.text(Timestamp(seconds: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT") }

    @Test(
        "in another form are none",
        arguments: [
            "", "yesterday", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT", "Fri, 24 Mai 2013 00:00:01 GMT",
            "Fri, 24 May 2013 25:00:01 GMT", "Wed, 31 Dec 1969 23:59:59 GMT", "Thu, 31 Feb 2024 00:00:00 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun; 06 Nov 1994 08:49:37 GMT",
        ])
    func others(text: String) { #expect(HTTPDate.moment(text) == nil) }
}
