import RichPushModel
import Testing

@testable import NotificationTemplates

@Suite("XML and raw templates")
struct XMLTemplateTests {
    private func fill(_ template: String, _ properties: [String: String]) throws -> String {
        let rendered = try NotificationTemplate(template, format: .xml).render(TemplateProperties(properties))
        return String(decoding: rendered, as: UTF8.self)
    }

    @Test(
        "values of attributes and texts of elements without children are filled, all else stays",
        arguments: [
            ("<t a=\"$(p)\">x</t>", "<t a=\"A&amp;B\">x</t>"), ("<t a='{&quot;x&quot; + $(p)}'/>", "<t a='xA&amp;B'/>"),
            ("<t>$(p)</t>", "<t>A&amp;B</t>"), ("<t><![CDATA[$(p)]]></t>", "<t>A&amp;B</t>"),
            ("<t>Hello $(p)</t>", "<t>Hello $(p)</t>"),
            ("<t>$(p)<b/></t>", "<t>$(p)<b/></t>"), ("<t> $(p)</t>", "<t> $(p)</t>"), ("<t>#(n)</t>", "<t>3</t>"),
            ("<t>#(p)</t>", "<t></t>"),
            ("<t>&#36;&#x28;p)</t>", "<t>A&amp;B</t>"), ("<t><!-- c -->$(p)</t>", "<t>A&amp;B</t>"),
            (
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- x --><toast><visual lang='%(q)'><text id=\"1\">$(p)</text></visual></toast>\n",
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- x --><toast><visual lang='%3C'><text id=\"1\">A&amp;B</text></visual></toast>\n"
            ), ("<t>$(q)</t>", "<t>&lt;&quot;&#10;\u{FFFD}</t>"),
        ])
    func filling(_ template: String, _ expected: String) throws {
        let q = template.contains("%(q)") ? "<" : "<\"\n\u{1}"
        #expect(try fill(template, ["p": "A&B", "n": "3", "q": q]) == expected)
    }

    @Test(
        "a body that is not well formed says what is wrong and where",
        arguments: [
            ("", TemplateError.Reason.expectedElement, 1), ("hello", .expectedElement, 1), ("<a>", .unterminatedMarkup, 1),
            ("<a></b>", .mismatchedTag, 4),
            ("<a><b></a></b>", .mismatchedTag, 7), ("<a b></a>", .malformedAttribute, 5), ("<a b=c/>", .malformedAttribute, 6),
            ("<a b='<'/>", .malformedAttribute, 7), ("<a b='1' b='2'/>", .duplicateAttribute, 10),
            ("<a b='1'c='2'/>", .malformedTag, 9),
            ("<a>&nbsp;</a>", .malformedReference, 4), ("<a>& </a>", .malformedReference, 4),
            ("<a>&#0;</a>", .malformedReference, 4),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", .documentType, 1), ("<a/><b/>", .textOutsideRoot, 5),
            ("<a/>x", .textOutsideRoot, 5),
            ("<a>]]></a>", .malformedTag, 4), ("<a><![CDATA[x</a>", .unterminatedMarkup, 4),
            ("<a><!-- -- --></a>", .unterminatedMarkup, 4),
            ("<a>\u{1}</a>", .controlCharacter, 4), ("< a/>", .malformedName, 2), ("<1/>", .malformedName, 2),
            ("<a b='x", .unterminatedMarkup, 6),
            ("<a b='$5'/>", .expectedParenthesis, 8), ("<a>ü</a >x", .textOutsideRoot, 10),
            ("<a>&#36;5</a>", .expectedParenthesis, 9),
            ("<a><?xml version='1.0'?></a>", .malformedTag, 4),
        ])
    func mistakes(_ text: String, _ reason: TemplateError.Reason, _ position: Int) {
        #expect(throws: TemplateError(reason, in: .body, at: position)) { try NotificationTemplate(text, format: .xml) }
    }

    @Test("elements are nested at most 64 deep")
    func depth() throws {
        func nest(_ depth: Int) -> String { String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth) }
        #expect(throws: Never.self) { try NotificationTemplate(nest(64), format: .xml) }
        #expect(throws: TemplateError(.tooDeep(limit: 64), in: .body, at: 193)) {
            try NotificationTemplate(nest(65), format: .xml)
        }
        #expect(throws: TemplateError.self) { try NotificationTemplate(String(repeating: "<a>", count: 20_000), format: .xml) }
    }

    @Test("a raw body is judged by its first character and may be anything")
    func raw() throws {
        for (body, format) in [
            ("<a/>", TemplateFormat.xml), (" {\"a\":1}\n", .json), ("{half", .raw), ("$(p)", .raw), ("", .raw),
            ("free text", .raw),
        ] {
            let template = try NotificationTemplate(body, format: .raw)
            #expect(template.format == format)
            #expect(try template.render(TemplateProperties(["p": "x"])) == Array(body.utf8))
        }
        #expect(throws: TemplateError(.expectedElement, in: .body, at: 1)) { try NotificationTemplate("text", format: .markup) }
        #expect(try NotificationTemplate("{}", format: .markup).format == .json)
    }

    @Test("the platform, and for Windows its header, say how a body is written")
    func formats() throws {
        for name in ["apns", "gcm", "fcmv1", "adm", "baidu", "browser"] {
            #expect(TemplateFormat(platform: Platform(rawValue: name)) == .json)
        }
        #expect(TemplateFormat(platform: Platform(rawValue: "mpns")) == .raw)
        for (type, format) in [("wns/toast", TemplateFormat.markup), ("WNS/Raw", .raw), ("$(type)", .raw)] {
            let headers = try TemplateHeaders([("X-WNS-Type", type)], platform: Platform(rawValue: "wns"))
            #expect(headers.bodyFormat == format)
        }
    }
}
