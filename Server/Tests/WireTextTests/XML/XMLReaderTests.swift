import Testing

@testable import WireText

@Suite("Reading XML")
struct XMLReaderTests {
    private func read(_ text: String, _ limits: XMLLimits = XMLLimits()) throws -> XMLElement {
        try XMLReader.document(Array(text.utf8), limits: limits)
    }

    private func problem(_ text: String, _ limits: XMLLimits = XMLLimits()) -> XMLFault.Problem? {
        problem(Array(text.utf8), limits)
    }

    private func problem(_ bytes: [UInt8], _ limits: XMLLimits = XMLLimits()) -> XMLFault.Problem? {
        do throws(XMLFault) {
            _ = try XMLReader.document(bytes, limits: limits)
            return nil
        } catch {
            return error.problem
        }
    }

    @Test("elements, attributes and text arrive with their namespaces")
    func namespaces() throws {
        let root = try read("<p:a xmlns:p='urn:p' xmlns='urn:d' p:x='1' y = \"2\"><b/><p:b>t</p:b><c xmlns=''/></p:a>")
        #expect(root.namespace == "urn:p")
        #expect(root.name == "a")
        #expect(root.attribute("x", in: "urn:p") == "1")
        #expect(root.attribute("y") == "2")
        #expect(root.children.map(\.namespace) == ["urn:d", "urn:p", ""])
        #expect(root.children.map(\.name) == ["b", "b", "c"])
        #expect(root.children.dropFirst().first?.text == "t")
    }

    @Test("a declaration ends with its element")
    func scopes() {
        #expect(problem("<a><b xmlns:p='urn:p'/><p:c/></a>") == .unboundPrefix("p"))
    }

    @Test("text, references and CDATA sections come together in order")
    func text() throws {
        let root = try read("<a> x&lt;<![CDATA[<&]]]]><![CDATA[>]]>&#65;<b>no</b>&#x20AC;&amp;amp; <!-- - -->y<?p ?> </a>")
        #expect(root.text == " x<<&]]>A€&amp; y ")
    }

    @Test("line ends are LF in text and blanks in attributes, references keep what they name")
    func lineEnds() throws {
        let root = try read("<a b='1\r\n2\t3&#10;4'>x\r\ny\rz&#13;</a>")
        #expect(root.text == "x\ny\nz\r")
        #expect(root.attribute("b") == "1 2 3\n4")
    }

    @Test(
        "documents are read in UTF-8 and UTF-16, with and without a mark",
        arguments: ["", "<?xml version=\"1.0\" encoding=\"utf-16\"?>\n", "<?xml version='1.0'?>"])
    func encodings(declaration: String) throws {
        let text = declaration + "<a>Øystein 😀</a>"
        let little = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        for bytes in [
            Array(text.utf8), [0xEF, 0xBB, 0xBF] + text.utf8, little, [0xFF, 0xFE] + little, big, [0xFE, 0xFF] + big,
        ] {
            #expect(try XMLReader.document(bytes, limits: XMLLimits()).text == "Øystein 😀")
        }
    }

    @Test("other encodings are refused, UTF-7 among them")
    func otherEncodings() {
        #expect(problem("<?xml version=\"1.0\" encoding=\"utf-7\"?>+ADw-a/+AD4-") == .unsupportedEncoding)
        #expect(problem("+ADw-a/+AD4-") == .expected("an element"))
        #expect(problem("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a/>") == .unsupportedEncoding)
        #expect(problem([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0]) == .unsupportedEncoding)
        #expect(problem([0x4C, 0x6F, 0xA7, 0x94, 0x93]) == .invalidBytes)
        #expect(problem([0x3C, 0x61, 0x3E, 0xC0, 0xBC, 0x3C, 0x2F, 0x61, 0x3E]) == .invalidBytes)
        #expect(problem([0xFF, 0xFE, 0x3C]) == .invalidBytes)
        #expect(problem([0xFF, 0xFE, 0x3C, 0x00, 0x00, 0xD8]) == .invalidBytes)
    }

    @Test(
        "document types and entities are refused in every disguise",
        arguments: [
            "<!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\"><!ENTITY y \"&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;\">]><a>&y;</a>",
            "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
            "<!DOCTYPE a SYSTEM \"http://example.test/a.dtd\"><a/>",
            "<!DOCTYPE a [<!ENTITY % p SYSTEM \"http://example.test/p\"> %p;]><a/>",
            "<?xml version=\"1.0\"?><!-- c --><!DOCTYPE a><a/>",
            "<!doctype a><a/>",
            "<a><!DOCTYPE b></a>",
            "<a><!ENTITY x \"y\"></a>",
            "<a/><!DOCTYPE a>",
        ])
    func documentTypes(text: String) {
        #expect(problem(text) == .documentType)
        #expect(problem([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }) == .documentType)
    }

    @Test("an entity that XML itself does not know is an error", arguments: ["&x;", "&nbsp;", "&", "& ", "&LT;", "&#;", "&#x;"])
    func entities(text: String) {
        #expect(problem("<a>\(text)</a>") != nil)
        #expect(problem("<a b='\(text)'/>") != nil)
    }

    @Test(
        "a reference to what is no character is an error",
        arguments: ["&#0;", "&#8;", "&#xD800;", "&#xFFFE;", "&#x110000;", "&#99999999999;", "&#-1;", "&#+65;", "&#6 5;"])
    func numbers(text: String) { #expect(problem("<a>\(text)</a>") != nil) }

    @Test(
        "what is not well-formed is refused",
        arguments: [
            "<a>", "<a", "<a b>", "<a b=1/>", "<a b='1'c='2'/>", "<a b='<'/>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "x<a/>",
            "<a/>x", "< a/>", "<a><![CDATA[x</a>", "<a><!-- x</a>", "<a><!-- -- --></a>", "<a>]]></a>", "<a>\u{1}</a>",
            "<a>\u{FFFE}</a>", "<:a/>", "<a:/>", "<a:b:c/>", "<1a/>", "<a><?xml version='1.0'?></a>",
            " <?xml version='1.0'?><a/>",
            "<?xml?><a/>", "<?xml encoding='utf-8'?><a/>", "<?xml version='2.0'?><a/>", "<a xmlns:x=''/>",
            "<a xmlns:xml='urn:x'/>", "<a xmlns:xmlns='urn:x'/>", "<a b='1' b='2'/>", "<a></a >x", "<a></ a>", "<a/ >",
            "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>", "<x:a/>", "<a x:b=''/>", "<a><?p", "<a b='", "<\u{D7}/>",
            "<a xmlns='http://www.w3.org/2000/xmlns/'/>", "</a>", "<a", "<!", "<", "<a>&", "<a>&#", "<a>&#x1",
        ])
    func malformed(text: String) { #expect(problem(text) != nil) }

    @Test("nothing at all is its own problem", arguments: ["", " ", "<!-- only -->", "<?xml version='1.0'?>", "\u{FEFF}"])
    func empty(text: String) { #expect(problem(text) == .empty) }

    @Test("an error names line and column, counted in characters")
    func position() {
        #expect(throws: XMLFault(.mismatchedEnd(expected: "b"), at: XMLPosition(line: 3, column: 4))) {
            try read("<a>\r\n <é/>\n Øx</a>".replacing("<é/>", with: "<b>"))
        }
        let fault = XMLFault(.documentType, at: XMLPosition(line: 2, column: 7))
        #expect(fault.description == "document types and entities are not accepted at line 2, column 7")
    }

    @Test("limits hold at their value and break one above")
    func limits() {
        #expect(problem("<a/>", XMLLimits(bytes: 4)) == nil)
        #expect(problem("<a/> ", XMLLimits(bytes: 4)) == .tooLong(limit: 4))
        let nested = { String(repeating: "<a>", count: $0) + String(repeating: "</a>", count: $0) }
        #expect(problem(nested(32)) == nil)
        #expect(problem(nested(33)) == .tooDeep(limit: 32))
        #expect(problem("<a><b/><c/></a>", XMLLimits(elements: 3)) == nil)
        #expect(problem("<a><b/><c/><d/></a>", XMLLimits(elements: 3)) == .tooManyElements(limit: 3))
        #expect(problem("<a b='' c=''/>", XMLLimits(attributes: 2)) == nil)
        #expect(problem("<a b='' c='' xmlns:d='x'/>", XMLLimits(attributes: 2)) == .tooManyAttributes(limit: 2))
        #expect(problem("<a>xyz</a>", XMLLimits(text: 3)) == nil)
        #expect(problem("<a>xy<![CDATA[zz]]></a>", XMLLimits(text: 3)) == .textTooLong(limit: 3))
        #expect(problem("<a b='wxyz'/>", XMLLimits(text: 3)) == .textTooLong(limit: 3))
    }

    @Test("documents may follow each other")
    func sequences() throws {
        let text = "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-16\"?><a/>\n<?xml version=\"1.0\"?><!-- x --><b/><c/> "
        #expect(try XMLReader.documents(Array(text.utf8), limits: XMLLimits()).map(\.name) == ["a", "b", "c"])
        #expect(try XMLReader.documents([], limits: XMLLimits()).isEmpty)
        #expect(throws: XMLFault.self) { try XMLReader.documents(Array("<a/>x<b/>".utf8), limits: XMLLimits()) }
    }
}
