import ClarionTesting
import Testing
import WireText

@testable import HubProtocol

@Suite("Writing XML")
struct XMLWriterTests {
    @Test("text, attributes and CDATA sections are escaped, each by its own rule")
    func escaping() {
        var writer = XMLWriter()
        writer.open("a", ["x": "W/\"1\" <&>\t\n\r'"])
        writer.element("b", "a && b < c > \"d\" 'e'\t\n\r")
        writer.literal("c", "{\"aps\":{}} ]]> <&>")
        writer.empty("d", ["y": ""])
        writer.element("e", nil)
        writer.close("a")
        let expected = """
            <a x="W/&quot;1&quot; &lt;&amp;&gt;&#x9;&#xA;&#xD;'"><b>a &amp;&amp; b &lt; c &gt; "d" 'e'\t\n&#xD;</b>\
            <c><![CDATA[{"aps":{}} ]]]]><![CDATA[> <&>]]></c><d y=""/></a>
            """
        #expect(writer.text == expected)
    }

    @Test("what XML cannot carry becomes the replacement character")
    func replacement() {
        var writer = XMLWriter()
        writer.element("a", "x\u{0}y\u{1F}z\u{FFFE}\u{FFFF}😀\u{FFFD}")
        #expect(writer.text == "<a>x\u{FFFD}y\u{FFFD}z\u{FFFD}\u{FFFD}😀\u{FFFD}</a>")
    }

    @Test("a document for a file stays on one line whatever is in it")
    func singleLine() {
        var writer = XMLWriter(isSingleLine: true)
        writer.element("a", "x\ny\r\nz")
        writer.literal("b", "x\ny")
        writer.literal("c", "<z>")
        #expect(writer.text == "<a>x&#xA;y&#xD;&#xA;z</a><b>x&#xA;y</b><c><![CDATA[<z>]]></c>")
    }

    @Test("what was written is read again as it was, for 5,000 random texts")
    func roundTrip() throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let alphabet = Array("ab<>&\"'] \t\r\n]]>{}$(é😀\u{FFFD}\u{7F}\u{85}").map { String($0) } + ["]]>", "&amp;", "<![CDATA["]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...12, using: &generator))
                .map { _ in alphabet.randomElement(using: &generator) ?? "" }.joined()
            var writer = XMLWriter(isSingleLine: Bool.random(using: &generator))
            writer.open("r", ["x": text])
            writer.element("a", text)
            writer.literal("b", text)
            writer.close("r")
            let root = try XMLReader.document(Array(writer.text.utf8), limits: .request)
            #expect(root.attribute("x").map { Array($0.utf8) } == Array(text.utf8), "seed \(generator.seed)")
            #expect(root.children.map { Array($0.text.utf8) } == [Array(text.utf8), Array(text.utf8)], "seed \(generator.seed)")
        }
    }
}
