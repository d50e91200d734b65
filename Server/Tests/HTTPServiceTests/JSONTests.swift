import ClarionTesting
import HTTPService
import RichPushModel
import ServiceErrors
import Testing
import WireText

@Suite("JSON before it is decoded")
struct JSONScannerTests {
    private func scan(_ text: String, depth: Int = 16, known: Set<String>? = nil) throws -> JSONKind {
        try JSONScanner.scan(Array(text.utf8), depthLimit: depth, known: known)
    }

    @Test("every kind of value is recognised, with the fields it names")
    func kinds() throws {
        #expect(try scan(" \"a\" ") == .string)
        #expect(try scan("-1.5e+3") == .number)
        #expect(try scan("-9223372036854775808") == .number)
        #expect(try scan("[1, 2,\t[]]") == .list)
        #expect(try scan("true") == .boolean)
        #expect(try scan("null") == .null)
        let nested = #"{"a":{"b":[{"c":1},{"c":2}]},"\u0064\ud83d\ude00":"\\\"\n\u00e9"}"#
        let fields: Set = ["a", "a.b", "a.b.c", "d😀"]
        #expect(try scan(nested, known: fields) == .object)
        for field in fields {
            #expect(throws: ServiceError.self, "\(field)") { try scan(nested, known: fields.subtracting([field])) }
        }
    }

    @Test("a long name around many short ones ends at the first of them that is not known")
    func longNames() throws {
        let inner = (0..<20_000).map { #""\#($0)":1"# }.joined(separator: ",")
        let body = #"{"\#(String(repeating: "a", count: 130_000))":{\#(inner)}}"#
        #expect { try scan(body, known: ["message"]) } throws: { "\($0)".utf8.count < 300 && "\($0)".contains("is not known") }
        #expect(try scan(body) == .object)
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
        #expect { try scan(text) } throws: { ($0 as? ServiceError)?.code == .malformedJSON }
    }

    @Test("bytes that are not UTF-8 are refused")
    func encoding() {
        #expect(throws: ServiceError(.malformedJSON, "the body is not UTF-8")) {
            try JSONScanner.scan([0x22, 0xC0, 0xAF, 0x22], depthLimit: 4)
        }
    }

    @Test("ten megabytes of nesting are refused at the limit, and the process lives", arguments: ["[", "{\"a\":"])
    func nesting(opening: String) {
        let bomb = String(repeating: opening, count: 10_000_000 / opening.utf8.count)
        #expect { try scan(bomb) } throws: { "\($0)".contains("nested more than 16 deep") }
        #expect(throws: Never.self) { try scan(String(repeating: "[", count: 16) + String(repeating: "]", count: 16)) }
    }

    @Test("random bytes never bring it down, and what it accepts the decoder can read")
    func random() throws {
        var generator = SeededGenerator()
        print("JSON seed \(generator.seed)")
        let alphabet = Array("{}[]\",:\\u0d8ntf1-e. a".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
            guard let kind = try? JSONScanner.scan(bytes, depthLimit: 8), kind == .string else { continue }
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
        #expect(detail(#"{"message":"m","badge":1.5}"#) == "field 'badge': expected a whole number")
        #expect(detail(#"{"message":"m","tags":["a"],"badge":-0.1}"#) == "field 'badge': expected a whole number")
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

    @Test("name an unknown field, shown safely")
    func unknownFields() {
        #expect(detail(#"{"message":"m","mesage":"x"}"#) == "field 'mesage' is not known")
        #expect(detail(#"{"message":"m","coupon":{"code":"c","headline":"h","Code":1}}"#) == "field 'coupon.Code' is not known")
        #expect(detail("{\"message\":\"m\",\"<\\u0007'é\":1}") == "field '<???' is not known")
    }
}
