import HubProtocol
import Testing

@Suite("JSON of the hub protocol")
struct WireJSONTests {
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
