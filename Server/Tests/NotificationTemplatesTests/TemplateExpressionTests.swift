import NotificationTemplates
import Testing

@Suite("Template expressions")
struct TemplateExpressionTests {
    private func fill(_ template: String, _ properties: [String: String]) throws -> String {
        let rendered = try NotificationTemplate(json: template).render(TemplateProperties(properties))
        return String(decoding: rendered, as: UTF8.self)
    }

    /// The text that an expression gives inside a JSON string.
    private func value(_ expression: String, _ properties: [String: String]) throws -> String {
        let filled = try fill(#"{"v":"\#(expression)"}"#, properties)
        return String(filled.dropFirst(6).dropLast(2))
    }

    @Test("the documented example comes out to the byte")
    func workedExample() throws {
        let template = ##"{"aps":{"alert":"{$(name) + ', ' + .(text, 20)}","badge":"#(n)"},"u":"%(link)"}"##
        let properties = try TemplateProperties(
            json: #"{"name":"Ann","text":"Your parcel has arrived at the shop","n":"3","link":"a b"}"#)
        let rendered = try NotificationTemplate(json: template).render(properties)
        #expect(
            String(decoding: rendered, as: UTF8.self)
                == #"{"aps":{"alert":"Ann, Your parcel has a...","badge":3},"u":"a%20b"}"#)
    }

    @Test(
        "each form of the table gives its result",
        arguments: [
            ("$(p)", "Hello"), ("$(P)", "Hello"), ("$( p )", "Hello"), ("$(missing)", ""), ("$(p, 2)", "He"), ("$(p,0)", ""),
            ("$(p, 99)", "Hello"), ("$(p, +3)", "Hel"), (".(p, 4)", "H..."), (".(p, 5)", "Hello"), (".(p, 3)", "..."),
            (".(p,2)", ".."),
            (".(p, 1)", "."), (".(p, 0)", ""), (".(missing, 5)", ""), ("%(url)", "a%20b%2F%C3%BC~"), ("%(missing)", ""),
            ("$(missing:{none})", "none"), ("$(p:{none})", "Hello"), ("$(missing:{})", ""),
            (#"$(missing:{a\\}b\\\\c\\d})"#, #"a}b\\cd"#),
            ("$(missing:{), $(p)})", "), $(p)"), ("$(missing:{longer}, 4)", "long"), (".(missing:{longer}, 5)", "lo..."),
            ("%(missing:{a b})", "a%20b"), ("$(p :{x} , 2)", "He"), ("$(empty:{none})", ""),
            ("{$(p)}", "Hello"), ("{'a' + 'b'}", "ab"), ("{ 'it''s ' + $(p) }", "it's Hello"),
            (#"{\"a\"\"b\" + 'c\"'}"#, #"a\"bc\""#),
            ("{''+$(p)+''}", "Hello"), ("{'$(p)'}", "$(p)"), ("{'}' + '+'}", "}+"), ("$(p) + '!'", "Hello!"),
            ("{%(url)+.(p,4)}", "a%20b%2F%C3%BC~H..."),
            (#"\u0024(p)"#, "Hello"), (#"{\n'a'\t+$(p)}"#, "aHello"),
        ])
    func forms(_ expression: String, _ expected: String) throws {
        #expect(try value(expression, ["p": "Hello", "url": "a b/ü~", "empty": ""]) == expected)
    }

    @Test(
        "a text that begins with none of the five characters stays as written",
        arguments: ["Hello $(name)", "", " $(name)", "'a' + $(name)", "5 $", "a#(n)", "\\n$(p)", "\\\\$(p)", "é.(p)"])
    func literals(_ text: String) throws {
        #expect(try value(text, ["name": "Ann", "p": "x", "n": "1"]) == text)
    }

    @Test(
        "a length counts user-perceived characters",
        arguments: [
            ("👩‍👩‍👧‍👦🇳🇴e\u{301}xy", 3, "👩‍👩‍👧‍👦🇳🇴e\u{301}"), ("a\r\nb", 2, "a\\r\\n"), ("日本語", 2, "日本"),
        ])
    func characters(_ text: String, _ length: Int, _ expected: String) throws {
        let cut = try value("$(p, \(length))", ["p": text])
        #expect(Array(cut.utf8) == Array(expected.utf8))
        let dotted = try value(".(p, \(length))", ["p": text + "more"])
        #expect(dotted == String(repeating: ".", count: length))
    }

    @Test(
        "a value is escaped for the string where it stands",
        arguments: [
            (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb\tc\rd\u{8}\u{C}", #"a\nb\tc\rd\b\f"#),
            ("\u{0}\u{1F}", #"\u0000\u001F"#), ("ü😀/", "ü😀/"),
            (#"","admin":true,"x":""#, #"\",\"admin\":true,\"x\":\""#),
        ])
    func escaping(_ text: String, _ expected: String) throws {
        #expect(try value("$(p)", ["p": text]) == expected)
    }

    @Test("what a property says is never read as an expression")
    func noRecursion() throws {
        #expect(try value("$(p)", ["p": "$(q)", "q": "secret"]) == "$(q)")
        #expect(try value("{$(p) + ')'}", ["p": "$(q", "q": "secret"]) == "$(q)")
    }

    @Test(
        "#(name) gives a bare number or boolean, and leaves its member out without one",
        arguments: [
            ("3", #"{"n":3}"#), ("-0.5e+7", #"{"n":-0.5e+7}"#), ("true", #"{"n":true}"#), ("false", #"{"n":false}"#), ("", "{}"),
            ("three", "{}"), ("03", "{}"), ("1.", "{}"), ("1 ", "{}"), ("null", "{}"), ("\"x\"", "{}"), ("{}", "{}"),
            ("+1", "{}"), ("NaN", "{}"),
            ("1,\"admin\":true", "{}"), ("True", "{}"),
        ])
    func bare(_ text: String, _ expected: String) throws {
        #expect(try fill(##"{"n":"#(n)"}"##, ["n": text]) == expected)
        #expect(try fill(##"{"n":"{ #(n) }"}"##, ["n": text]) == expected)
    }

    @Test("a bare place without a value takes its comma along, wherever it stands")
    func members() throws {
        func check(_ template: String, _ properties: [String: String], _ expected: String) throws {
            #expect(try fill(template, properties) == expected)
        }
        let three = ##"{ "a" : "#(a)" , "b":"#(b)","c" : "#(c)" }"##
        try check(three, ["a": "1", "b": "2", "c": "3"], #"{ "a" : 1 , "b":2,"c" : 3 }"#)
        try check(three, ["b": "2", "c": "3"], #"{ "b":2,"c" : 3 }"#)
        try check(three, ["c": "3"], #"{"c" : 3 }"#)
        try check(three, ["a": "1"], #"{ "a" : 1 }"#)
        try check(three, [:], "{}")
        let mixed = ##"{"a":"#(a)","x":{"p":"#(a)"},"b":"#(b)","y":["#(a)",{"q":"#(b)"}],"c":"#(c)"}"##
        try check(mixed, [:], #"{"x":{},"y":[null,{}]}"#)
        try check(mixed, ["a": "1"], #"{"a":1,"x":{"p":1},"y":[1,{}]}"#)
        try check(mixed, ["b": "2"], #"{"x":{},"b":2,"y":[null,{"q":2}]}"#)
        try check(mixed, ["c": "3"], #"{"x":{},"y":[null,{}],"c":3}"#)
        try check(##"{"n":"#(n:{7})","l":["#(m:{x})","#(m:{8})"]}"##, [:], #"{"n":7,"l":[null,8]}"#)
        try check(##"{"a":"#(a)","t":"$(t)"}"##, ["t": "x"], #"{"t":"x"}"#)
    }
}
