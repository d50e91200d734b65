import Testing

@testable import NotificationTemplates

@Suite("Template properties")
struct TemplatePropertiesTests {
    @Test("texts count as they are, numbers and booleans as their JSON text, null as no value; names ignore case")
    func values() throws {
        let properties = try TemplateProperties(
            json: #" { "Name" : "Ann\n\u00fc" ,"n":-1.50e3,"yes":true,"no":false,"nothing":null,"a-b":"","ü":"x" } "#)
        #expect(properties["NAME"] == "Ann\nü" && properties["name"] == "Ann\nü")
        #expect(properties["n"] == "-1.50e3" && properties["yes"] == "true" && properties["no"] == "false")
        #expect(properties["nothing"] == nil && properties["a-b"] == "" && properties["other"] == nil)
        #expect(properties.count == 6)
        #expect(try TemplateProperties(json: "{}").count == 0)
    }

    @Test("a null lets the fallback stand in")
    func null() throws {
        let template = try NotificationTemplate(json: #"{"a":"$(who:{you})"}"#)
        #expect(try template.render(TemplateProperties(json: #"{"who":null}"#)) == Array(#"{"a":"you"}"#.utf8))
    }

    @Test(
        "anything but a flat object says what is wrong and where",
        arguments: [
            ("", TemplateError.Reason.empty, 0), ("[]", .expectedObject, 1), ("null", .expectedObject, 1),
            (#"{"a":{"b":"c"}}"#, .nestedProperty, 6), (#"{"a":"x", "b" : [1]}"#, .nestedProperty, 17),
            (#"{"a":"1","A":"2"}"#, .duplicateProperty, 10), (#"{"a":null,"a":"2"}"#, .duplicateProperty, 11),
            (#"{"a" "1"}"#, .expectedColon, 6),
            (#"{a:1}"#, .expectedName, 2), (#"{"a":"1""#, .expectedCommaOrBrace, 9), (#"{"a":1}{}"#, .expectedEnd, 8),
            (#"{"a":"\ud800"}"#, .loneSurrogate, 7),
            (#"{"a":Infinity}"#, .expectedValue, 6),
        ])
    func mistakes(_ json: String, _ reason: TemplateError.Reason, _ position: Int) {
        #expect(throws: TemplateError(reason, in: .properties, at: position)) { try TemplateProperties(json: json) }
    }

    @Test("their number and their size are bounded")
    func bounds() throws {
        func many(_ count: Int) -> [String: String] { .init(uniqueKeysWithValues: (0..<count).map { ("p\($0)", "x") }) }
        func json(_ count: Int) -> String { "{" + (0..<count).map { "\"p\($0)\":1" }.joined(separator: ",") + "}" }
        #expect(try TemplateProperties(json: json(1000)).count == 1000)
        #expect(throws: TemplateError.self) { try TemplateProperties(json: json(1001)) }
        #expect(try TemplateProperties(many(1000)).count == 1000)
        #expect(throws: TemplateError(.tooManyProperties(limit: 1000), in: .properties, at: 0)) {
            try TemplateProperties(many(1001))
        }
        let large = String(repeating: "x", count: 65_536)
        #expect(throws: TemplateError(.tooLarge(limit: 65_536), in: .properties, at: 0)) { try TemplateProperties(["a": large]) }
        #expect(throws: TemplateError(.tooLarge(limit: 65_536), in: .properties, at: 0)) {
            try TemplateProperties(json: "{\"a\":\"\(large)\"}")
        }
        #expect(throws: TemplateError(.duplicateProperty, in: .properties, at: 0)) {
            try TemplateProperties(["a": "1", "A": "2"])
        }
    }

    @Test("their stored form reads back as the same properties")
    func stored() throws {
        let properties = try TemplateProperties(["B": "x\"\\\n\u{0}", "a": "ü😀", "c": ""])
        #expect(properties.json == #"{"a":"ü😀","b":"x\"\\\n\u0000","c":""}"#)
        #expect(try TemplateProperties(json: properties.json) == properties)
    }
}
