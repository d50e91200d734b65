import Testing

@testable import NotificationTemplates

@Suite("JSON templates")
struct JSONTemplateTests {
    @Test(
        "what is no expression stays byte for byte: order, numbers, blanks, escapes",
        arguments: [
            "{}", " { } \n", "{\"z\":1.0e+05,\"a\":-0,\"A\":1E400}", "{\r\n\t\"a\" : [ 1 , 2.50 , null,true,false , \"\" ] }",
            #"{"$(a)":"x","\u0024(b)":"\/\u00fc\uD83D\uDE00\n"}"#, "{\"ü\":\"日本 😀\u{7F}\"}",
            #"{"a":{"b":{"c":[[[]]]}}, "A":1}"#, #"{"":""}"#, #"{"aps":{"content-available":1,"sound":""},"richId":"7"}"#,
        ])
    func constants(_ text: String) throws {
        let template = try NotificationTemplate(json: text)
        #expect(template.isConstant)
        #expect(template.text == text)
        #expect(template.format == .json)
        #expect(try template.render(TemplateProperties(["a": "x", "b": "y"])) == Array(text.utf8))
    }

    @Test(
        "a body that is no JSON object says what is wrong and where",
        arguments: [
            ("", TemplateError.Reason.empty, 0), (" \n", .empty, 0), ("[]", .expectedObject, 1), ("\"$(a)\"", .expectedObject, 1),
            ("{", .expectedName, 2), ("{\"a\"}", .expectedColon, 5), ("{\"a\":}", .expectedValue, 6),
            ("{\"a\":1,}", .expectedName, 8),
            ("{\"a\":1 \"b\"", .expectedCommaOrBrace, 8), ("{\"a\":[1 2]}", .expectedCommaOrBracket, 9),
            ("{\"a\":[1,]}", .expectedValue, 9),
            ("{\"a\":01}", .expectedCommaOrBrace, 7), ("{\"a\":1.}", .expectedDigit, 8), ("{\"a\":1e}", .expectedDigit, 8),
            ("{\"a\":-}", .expectedValue, 6), ("{\"a\":tru}", .expectedValue, 6), ("{\"a\":NaN}", .expectedValue, 6),
            ("{\"a\":\"x}", .unterminatedString, 6), ("{\"a\":\"\n\"}", .controlCharacter, 7),
            ("{\"a\":\"\\x\"}", .unknownEscape, 7),
            ("{\"a\":\"\\u12g4\"}", .malformedUnicodeEscape, 11), ("{\"a\":\"\\uD800\"}", .loneSurrogate, 7),
            ("{\"a\":\"\\uDC00\"}", .loneSurrogate, 7), ("{\"a\":\"\\uD800\\u0041\"}", .loneSurrogate, 7),
            ("{\"a\":1,\"\\u0061\":2}", .duplicateName, 8), ("{} x", .expectedEnd, 4), ("{}}", .expectedEnd, 3),
            ("{\"ü😀\":x}", .expectedValue, 7), ("{'a':1}", .expectedName, 2), ("{\"a\":1}\u{0}", .expectedEnd, 8),
        ])
    func mistakes(_ text: String, _ reason: TemplateError.Reason, _ position: Int) {
        #expect(throws: TemplateError(reason, in: .body, at: position)) { try NotificationTemplate(json: text) }
    }

    @Test(
        "an expression that is malformed says what is wrong and where in the body",
        arguments: [
            ("$5 off", TemplateError.Reason.expectedParenthesis, 2), (".hidden", .expectedParenthesis, 2),
            ("#1", .expectedParenthesis, 2),
            ("%", .expectedParenthesis, 2), ("{}", .expectedTerm, 2), ("{ }", .expectedTerm, 3), ("{abc}", .expectedTerm, 2),
            ("$body", .bodyExpression, 1), ("$BODYguard", .bodyExpression, 1), ("{'a' + $Body}", .bodyExpression, 8),
            (".($body, 2)", .malformedPropertyName, 3), ("$()", .missingPropertyName, 3), ("$( )", .missingPropertyName, 4),
            ("$(:{x})", .missingPropertyName, 3), ("$(a-b)", .malformedPropertyName, 4), ("$(a b)", .malformedPropertyName, 5),
            ("$(é)", .malformedPropertyName, 3), ("$(a:x)", .malformedPropertyName, 4), ("$(a", .missingParenthesis, 3),
            ("$(a,5", .missingParenthesis, 1), ("$(a:{x}", .missingParenthesis, 1), ("$(a:{x)", .unterminatedFallback, 4),
            (#"$(a:{x\\}"#, .unterminatedFallback, 4), (#"$(a:{x\\"#, .unterminatedFallback, 4),
            ("$(a) ", .textAfterExpression, 5), ("$(a)b", .textAfterExpression, 5), ("{$(a)} b", .textAfterExpression, 7),
            ("$(a) +", .expectedTerm, 7), ("{$(a) $(b)}", .missingBrace, 7), ("{$(a)", .missingBrace, 6),
            ("{$(a) + }", .expectedTerm, 9),
            ("{'a}", .unterminatedLiteral, 2), ("{'a''}", .unterminatedLiteral, 2), ("{{'a'}}", .expectedTerm, 2),
            (".(a)", .missingLength, 4), ("%(a, 5)", .forbiddenLength, 4), ("#(a, 5)", .forbiddenLength, 4),
            ("$(a, )", .malformedLength, 6), ("$(a, x)", .malformedLength, 6), ("$(a, -1)", .malformedLength, 6),
            ("$(a, 1.5)", .malformedLength, 6), ("$(a, 2147483648)", .malformedLength, 6), ("$(a, 1 2)", .malformedLength, 6),
            ("$(a, 5:{x})", .malformedLength, 6),
            ("{'a' + #(n)}", .bareInConcatenation, 8), ("{#(n) + 'a'}", .bareInConcatenation, 2),
            ("#(n) + 'a'", .bareInConcatenation, 1),
        ])
    func malformedExpressions(_ expression: String, _ reason: TemplateError.Reason, _ position: Int) {
        // Nine characters stand before the expression.
        #expect(throws: TemplateError(reason, in: .body, at: position + 9)) {
            try NotificationTemplate(json: #"{"ü"  : "\#(expression)"}"#)
        }
    }

    @Test("behind escapes an error still names the character of the body")
    func escapedPositions() {
        #expect(throws: TemplateError(.expectedParenthesis, in: .body, at: 13)) {
            try NotificationTemplate(json: #"{"a":"\u0024x"}"#)
        }
        #expect(throws: TemplateError(.bodyExpression, in: .body, at: 18)) {
            try NotificationTemplate(json: #"{"ü":"{\"😀\" +\n $body}"}"#)
        }
    }

    @Test("a property name has at most 120 characters")
    func nameLength() throws {
        let name = String(repeating: "n", count: 120)
        let template = try NotificationTemplate(json: #"{"a":"$(\#(name))"}"#)
        #expect(try template.render(TemplateProperties([name.uppercased(): "x"])) == Array(#"{"a":"x"}"#.utf8))
        #expect(throws: TemplateError(.propertyNameTooLong(limit: 120), in: .body, at: 9)) {
            try NotificationTemplate(json: #"{"a":"$(\#(name)n)"}"#)
        }
    }

    @Test("depth and size of a template are bounded")
    func bounds() throws {
        func nest(_ depth: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
        }
        #expect(throws: Never.self) { try NotificationTemplate(json: nest(64)) }
        #expect(throws: TemplateError(.tooDeep(limit: 64), in: .body, at: 69)) { try NotificationTemplate(json: nest(65)) }
        #expect(throws: TemplateError.self) { try NotificationTemplate(json: nest(30_000)) }
        func sized(_ bytes: Int) -> String { "{\"a\":\"" + String(repeating: "x", count: bytes - 8) + "\"}" }
        #expect(throws: Never.self) { try NotificationTemplate(json: sized(65_536)) }
        #expect(throws: TemplateError(.tooLarge(limit: 65_536), in: .body, at: 0)) {
            try NotificationTemplate(json: sized(65_537))
        }
    }

    @Test("a result beyond the limit is an error of its own, however large it would become")
    func resultBound() throws {
        let terms = Array(repeating: "$(p)", count: 10_000).joined(separator: "+")
        let template = try NotificationTemplate(json: #"{"a":"{\#(terms)}"}"#)
        let large = try TemplateProperties(["p": String(repeating: "\u{1}", count: 60_000)])
        #expect(throws: TemplateRenderingError.tooLarge(limit: 65_536)) { try template.render(large) }
        #expect(try template.render(TemplateProperties(["p": "xyz"])).count == 30_008)
        let small = try NotificationTemplate(json: #"{"a":"$(p)"}"#)
        #expect(try small.render(TemplateProperties(["p": "xy"]), limit: 10).count == 10)
        #expect(throws: TemplateRenderingError.tooLarge(limit: 10)) {
            try small.render(TemplateProperties(["p": "xyz"]), limit: 10)
        }
        #expect(throws: TemplateRenderingError.tooLarge(limit: 10)) {
            try small.render(TemplateProperties(["p": "x\n"]), limit: 10)
        }
    }

    @Test("equal text is an equal template, and a sentence names the place")
    func equality() throws {
        #expect(try NotificationTemplate(json: "{}") == NotificationTemplate("{}", format: .raw))
        #expect(try NotificationTemplate(json: "{}") != NotificationTemplate(json: "{ }"))
        let error = #expect(throws: TemplateError.self) { try NotificationTemplate(json: #"{"a":"$5 off"}"#) }
        #expect(error?.description.hasPrefix("the template body, at character 8: ( is expected") == true)
    }
}
