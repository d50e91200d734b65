import ClarionTesting
import Foundation
import Testing

@testable import NotificationTemplates

@Suite("Templates at random")
struct TemplateRandomTests {
    /// A JSON value with places in it, its template text, and what must come out.
    private indirect enum Node {
        case fixed(String)
        case text(expression: String, result: String)
        case bare(name: String)
        case list([Node])
        case object([(String, Node)])
    }

    private static let texts = [
        "", "Ann", "a\"b\\c", "\n\r\t\u{0}\u{1F}", "ü😀👩‍👩‍👧", "$(a)", "{'x'}", "\u{2028}</script>", "3", "-1.5e3", "true", "null",
        "},{", "e\u{301}",
    ]
    private static let names = ["a", "b", "C_1", "d"]

    private func node(_ depth: Int, _ properties: [String: String], _ random: inout SeededGenerator) -> Node {
        switch Int.random(in: 0...(depth == 0 ? 3 : 7), using: &random) {
        case 0: return .fixed(["1.50", "null", "true", "\"Hello $(a)\"", "\"\\u00e9\\\"\"", "-0"].randomElement(using: &random)!)
        case 1, 2:
            let name = Self.names.randomElement(using: &random)!
            let value = properties[name]
            let length = Int.random(in: 0...6, using: &random)
            let forms = [
                ("$(\(name))", value ?? ""), ("$(\(name), \(length))", String((value ?? "").prefix(length))),
                ("{'it''s ' + $(\(name)) + \\\"!\\\"}", "it's \(value ?? "")!"),
                ("$(\(name.uppercased()):{or\\\\}})", value ?? "or}"),
                (".(\(name),\(length))", Self.dotted(value ?? "", length)),
            ]
            let form = forms.randomElement(using: &random)!
            return .text(expression: form.0, result: form.1)
        case 3: return .bare(name: Self.names.randomElement(using: &random)!)
        case 4, 5:
            return .list((0..<Int.random(in: 0...4, using: &random)).map { _ in node(depth - 1, properties, &random) })
        default: return object(depth - 1, properties, &random)
        }
    }

    private func object(_ depth: Int, _ properties: [String: String], _ random: inout SeededGenerator) -> Node {
        .object((0..<Int.random(in: 0...5, using: &random)).map { ("m\($0)", node(max(depth, 0), properties, &random)) })
    }

    private static func dotted(_ text: String, _ length: Int) -> String {
        text.count <= length ? text : text.prefix(max(0, length - 3)) + String(repeating: ".", count: min(3, length))
    }

    private func template(_ node: Node, _ random: inout SeededGenerator) -> String {
        func blank(_ random: inout SeededGenerator) -> String { ["", "", " ", "\n\t"].randomElement(using: &random)! }
        let text: String
        switch node {
        case .fixed(let json): text = json
        case .text(let expression, _): text = "\"\(expression)\""
        case .bare(let name): text = "\"#(\(name))\""
        case .list(let nodes): text = "[" + nodes.map { template($0, &random) }.joined(separator: ",") + "]"
        case .object(let members):
            let parts = members.map { "\(blank(&random))\"\($0.0)\"\(blank(&random)):\(template($0.1, &random))" }
            text = "{" + parts.joined(separator: ",") + "}"
        }
        return blank(&random) + text + blank(&random)
    }

    /// What must come out, as JSON; `nil` for a member that is left out.
    private func expected(_ node: Node, _ properties: [String: String]) throws -> String? {
        func quoted(_ text: String) throws -> String { String(decoding: try JSONEncoder().encode(text), as: UTF8.self) }
        switch node {
        case .fixed(let json): return json
        case .text(_, let result): return try quoted(result)
        case .bare(let name): return properties[name].flatMap { ["3", "-1.5e3", "true"].contains($0) ? $0 : nil }
        case .list(let nodes):
            return "[" + (try nodes.map { try expected($0, properties) ?? "null" }).joined(separator: ",") + "]"
        case .object(let members):
            let parts = try members.compactMap { name, member in
                try expected(member, properties).map { "\"\(name)\":" + $0 }
            }
            return "{" + parts.joined(separator: ",") + "}"
        }
    }

    /// The same value always as the same text.
    private func canonical(_ json: some Sequence<UInt8>) throws -> String {
        let value = try JSONSerialization.jsonObject(with: Data(json))
        return String(decoding: try JSONSerialization.data(withJSONObject: value, options: .sortedKeys), as: UTF8.self)
    }

    @Test("any properties in any template give valid JSON with each value in its place")
    func anyRendering() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        for _ in 0..<2000 {
            var properties: [String: String] = [:]
            for name in Self.names where Bool.random(using: &random) {
                properties[name] = Self.texts.randomElement(using: &random)
            }
            let tree = object(3, properties, &random)
            let text = template(tree, &random)
            let rendered = try NotificationTemplate(json: text).render(TemplateProperties(properties))
            let wanted = try #require(try expected(tree, properties))
            #expect(try canonical(rendered) == canonical(wanted.utf8), "\(text) with \(properties) seed \(random.seed)")
        }
    }

    private static let pieces = [
        "{", "}", "[", "]", ":", ",", "\"", "\"a\"", "\"b\":", "$(a)", ".(a,3)", "#(n)", "%(a)", "{'x' + $(a)}", ":{f}", "$", "#",
        ".", "\\", "\\u00", "\\ud83d",
        "'", "+", "1", "-", "e", "true", "null", " ", "ü", "😀", "\u{0}", "$body", "(", ")", "<a>", "</a>", "<", "&amp;", "&#",
        "<![CDATA[", "]]>", "<!--",
    ]

    @Test("random text is a template or an error with its place inside the text, never a crash")
    func noise() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let properties = try TemplateProperties(["a": "x\"<&", "n": "1"])
        for round in 0..<10_000 {
            var body = (0..<Int.random(in: 0...14, using: &random)).map { _ in Self.pieces.randomElement(using: &random)! }
                .joined()
            if round % 3 == 0 { body = "{\"k\":\"\(body)\"}" }
            for format in [TemplateFormat.json, .xml, .raw] {
                do throws(TemplateError) {
                    let template = try NotificationTemplate(body, format: format)
                    let rendered = try? template.render(properties)
                    if template.format == .json {
                        #expect((try? JSONSerialization.jsonObject(with: Data(rendered ?? []))) != nil, "\(body)")
                    }
                } catch {
                    #expect((0...body.unicodeScalars.count + 1).contains(error.position), "\(body): \(error)")
                }
            }
            _ = try? TemplateProperties(json: body)
            _ = try? TemplateExpiry(body)
        }
    }

    @Test("a cut of valid templates is an error or a template, never a crash")
    func cuts() throws {
        let whole = ##"{"a":"{$(a) + 'b''c' + .(d:{e\\}f}, 20)}","n":["#(n)",1.5e3,"\ud83d\ude00"],"o":{"p":null}}"##
        #expect(throws: Never.self) { try NotificationTemplate(json: whole) }
        for end in whole.indices {
            #expect(throws: TemplateError.self) { try NotificationTemplate(json: String(whole[..<end])) }
        }
    }
}
