import ClarionTesting
import HTTPService
import RichPushModel
import ServiceErrors
import Testing

@Suite("JSON before it is decoded")
struct JSONScannerTests {
    private func outline(_ text: String, depth: Int = 16) throws -> JSONOutline {
        try JSONScanner.outline(of: Array(text.utf8), depthLimit: depth)
    }

    @Test("every kind of value is recognised, with the fields it names")
    func kinds() throws {
        #expect(try outline(" \"a\" ").kind == .string)
        #expect(try outline("-1.5e+3").kind == .number)
        #expect(try outline("-9223372036854775808").kind == .number)
        #expect(try outline("[1, 2,\t[]]").kind == .list)
        #expect(try outline("true").kind == .boolean)
        #expect(try outline("null").kind == .null)
        let nested = try outline(#"{"a":{"b":[{"c":1},{"c":2}]},"\u0064\ud83d\ude00":"\\\"\n\u00e9"}"#)
        #expect(nested == JSONOutline(kind: .object, fields: ["a", "a.b", "a.b.c", "d😀"]))
    }

    @Test(
        "what decoders disagree about is refused",
        arguments: [
            "", " ", "{", "}", "[1,]", "[1 2]", "{\"a\":1,}", "{a:1}", "{\"a\"}", "{'a':1}", "01", "1.", ".5", "-", "+1", "1e",
            "NaN", "Infinity", "-Infinity", "nul", "tru", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "{} {}",
            "1 2", "// x\n1", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud800x\"", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
            "\u{FEFF}{}", "{\"a\":1]", "[1}", "\"\\", "{\"a\":",
        ])
    func malformed(text: String) {
        #expect { try outline(text) } throws: { ($0 as? ServiceError)?.code == .malformedJSON }
    }

    @Test("bytes that are not UTF-8 are refused")
    func encoding() {
        #expect(throws: ServiceError(.malformedJSON, "the body is not UTF-8")) {
            try JSONScanner.outline(of: [0x22, 0xC0, 0xAF, 0x22], depthLimit: 4)
        }
    }

    @Test("ten megabytes of nesting are refused at the limit, and the process lives", arguments: ["[", "{\"a\":"])
    func nesting(opening: String) {
        let bomb = String(repeating: opening, count: 10_000_000 / opening.utf8.count)
        #expect { try outline(bomb) } throws: { "\($0)".contains("nested more than 16 deep") }
        #expect(throws: Never.self) { try outline(String(repeating: "[", count: 16) + String(repeating: "]", count: 16)) }
    }

    @Test("random bytes never bring it down, and what it accepts the decoder can read")
    func random() throws {
        var generator = SeededGenerator()
        print("JSON seed \(generator.seed)")
        let alphabet = Array("{}[]\",:\\u0d8ntf1-e. a".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
            guard let outline = try? JSONScanner.outline(of: bytes, depthLimit: 8), outline.kind == .string else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(throws: Never.self, "\(text)") { try JSONFields.decode(String.self, from: bytes) }
        }
    }
}

@Suite("Errors of fields")
struct JSONFieldsTests {
    private struct Body: Codable {
        var message: String
        var badge: Int?
        var tags: [RichPushModel.Tag]?
        var style: DeliveryStyle?
        var read: Bool?
        var coupon: Coupon?
        var id: RichID?
    }

    private let known: Set<String> = [
        "message", "badge", "tags", "style", "read", "coupon", "coupon.code", "coupon.headline", "id",
    ]

    private func detail(_ text: String) -> String? {
        do {
            _ = try JSONFields.decode(Body.self, from: Array(text.utf8), known: known)
            return nil
        } catch { return error.detail }
    }

    @Test("name the field and what was expected, never the value")
    func sentences() {
        #expect(detail(#"{"message":"m"}"#) == nil)
        #expect(detail(#"{"message":5}"#) == "field 'message': expected a string")
        #expect(detail(#"{"message":["secret"]}"#) == "field 'message': expected a string")
        #expect(detail(#"{"message":null}"#) == "field 'message': expected a string, not null")
        #expect(detail(#"{}"#) == "field 'message' is missing")
        #expect(detail(#"[]"#) == "the body: expected an object")
        #expect(detail(#"{"message":"m","badge":"3"}"#) == "field 'badge': expected a whole number")
        #expect(detail(#"{"message":"m","badge":1e400}"#) == "field 'badge': the number is out of range")
        #expect(detail(#"{"message":"m","badge":18446744073709551616}"#) == "field 'badge': the number is out of range")
        #expect(detail(#"{"message":"m","badge":1.5}"#)?.contains("1.5") == false)
        #expect(detail(#"{"message":"m","read":1}"#) == "field 'read': expected true or false")
        #expect(detail(#"{"message":"m","tags":"x"}"#) == "field 'tags': expected a list")
        #expect(detail(#"{"message":"m","coupon":"x"}"#) == "field 'coupon': expected an object")
        #expect(detail(#"{"message":"m","coupon":{"code":"c"}}"#) == "field 'coupon.headline' is missing")
        #expect(
            detail(#"{"message":"m","tags":["ok","secret tag"]}"#)
                == "field 'tags[1]': a tag has 1 to 120 letters, digits and _ @ # . : -")
        #expect(detail(#"{"message":"m","style":"secret"}"#) == "field 'style': the value is not one of those allowed")
        #expect(detail(#"{"message":"m","id":"0x7"}"#) == "field 'id': not a rich notification id")
    }

    @Test("tell a field that nobody knows, shown safely")
    func strangers() {
        #expect(detail(#"{"message":"m","mesage":"x"}"#) == "field 'mesage' is not known")
        #expect(detail(#"{"message":"m","coupon":{"code":"c","headline":"h","Code":1}}"#) == "field 'coupon.Code' is not known")
        #expect(detail("{\"message\":\"m\",\"<\\u0007'é\":1}") == "field '<???' is not known")
    }
}
