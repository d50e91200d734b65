import HubProtocol
import RichPushModel
import Testing

@Suite("Dates and JSON of the hub protocol")
struct WireTextTests {
    @Test(
        "a moment is written with three fraction digits and Z",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_772_359_200_123, "2026-03-01T10:00:00.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
            (.min, "0001-01-01T00:00:00.000Z"),
        ])
    func written(_ milliseconds: Int64, _ text: String) {
        #expect(WireTime(Timestamp(milliseconds: milliseconds)).description == text)
        #expect(WireTime(text)?.description == text)
    }

    @Test("the end of time is what does not expire")
    func never() { #expect(WireTime.never.description == "9999-12-31T23:59:59.999Z") }

    @Test(
        "what is no date is none",
        arguments: [
            "", "2026", "2026-03-01", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-03-01T24:00:00Z",
            "2026-03-01T10:60:00Z",
            "2026-03-01T10:00:60Z", "2026-03-01T10:00:00.Z", "2026-03-01T10:00:00X", "2026-03-01T10:00:00+1",
            "2026-03-01T10:00:00ZZ",
            "0000-01-01T00:00:00Z", "2026-03-01'T10:00:00", "+026-03-01T10:00:00Z",
        ])
    func noDate(_ text: String) { #expect(WireTime(text) == nil) }

    @Test("every day of four centuries reads back")
    func calendar() {
        for day in stride(from: Int64(-80_000), through: 80_000, by: 7) {
            let moment = Timestamp(milliseconds: day * 86_400_000 + 45_296_789)
            #expect(WireTime(WireTime(moment).description)?.moment == moment)
        }
    }

    @Test("JSON keeps order and numbers, and is written without blanks")
    func json() throws {
        let json = try WireJSON(
            parsing: "\u{FEFF} { \"b\" : [ 1.50 , -2e3 , true , null ] , \"a\" : \"\\u00e9\\ud83d\\ude00\\n\\\"\\u0001/\" } ".utf8
        )
        #expect(json.text == "{\"b\":[1.50,-2e3,true,null],\"a\":\"é😀\\n\\\"\\u0001/\"}")
        #expect(json["A"] == .string("é😀\n\"\u{1}/"))
        #expect(json["c"] == nil)
    }

    @Test(
        "what is no JSON is refused",
        arguments: [
            "", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "1.", ".5", "+1", "nul", "\"\\x\"", "\"\\ud800\"", "\"\\udc00\"",
            "\"\\u12g4\"",
            "\"a", "\"\u{1}\"", "1 2", "{'a':1}", "NaN",
        ])
    func noJSON(_ text: String) {
        #expect(throws: HubRequestFault.self) { try WireJSON(parsing: text.utf8) }
    }

    @Test("text that is not UTF-8 and JSON without end are refused")
    func hostile() {
        #expect(throws: HubRequestFault.self) { try WireJSON(parsing: [0x22, 0xFF, 0x22]) }
        #expect(throws: HubRequestFault.self) { try WireJSON(parsing: Array(repeating: UInt8(ascii: "["), count: 100_000)) }
        let wide = "[" + String(repeating: "1,", count: 60_000) + "1]"
        #expect(throws: HubRequestFault.self) { try WireJSON(parsing: wide.utf8) }
    }
}
