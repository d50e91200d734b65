import WireText

/// Reads an XML body once and cuts it into the pieces that stay and the places that properties fill: the values of attributes and
/// the text of elements without children (Reference/AzureNotificationHubs.md#4-2).
///
/// It checks that the body is well formed (XML 1.0, without document types, so nothing can be defined or fetched). Whatever stands
/// between the tags of an element whose text is an expression, `CDATA` and comments included, gives way to the value.
struct XMLTemplateParser {
    var cursor: XMLCursor
    private var segments: [TemplateSegment] = []
    /// Where the text begins that is in no segment yet.
    private var pending = 0
    private var open: [Element] = []

    /// An element whose end tag was not read yet.
    private struct Element {
        let name: Range<Int>
        /// Where its content begins.
        let content: Int
        var text: PositionedText
        var hasChildren = false
    }

    private init(_ body: String) { cursor = XMLCursor(body) }

    static func parse(_ body: String) throws(TemplateFault) -> [TemplateSegment] {
        var parser = XMLTemplateParser(body)
        try parser.document()
        parser.flush(to: parser.cursor.offset)
        return parser.segments
    }

    private mutating func document() throws(TemplateFault) {
        _ = cursor.take("\u{FEFF}")
        if cursor.isAt("<?xml ") { try cursor.skip(past: "?>") }
        try outsideRoot()
        guard !cursor.isAtEnd else { throw cursor.fault(.expectedElement) }
        try startTag()
        while !open.isEmpty { try content() }
        try outsideRoot()
        guard cursor.isAtEnd else { throw cursor.fault(.textOutsideRoot) }
    }

    /// Blanks, comments and processing instructions before and after the root.
    private mutating func outsideRoot() throws(TemplateFault) {
        while true {
            cursor.skipSpace()
            guard try cursor.skipMiscellaneous() else { return }
        }
    }

    private mutating func content() throws(TemplateFault) {
        guard !cursor.isAtEnd else {
            throw cursor.fault(.unterminatedMarkup, at: open.last.map { $0.name.lowerBound - 1 })
        }
        guard cursor.isAt("<") else { return try cursor.character(into: &open[open.count - 1].text) }
        if try cursor.skipMiscellaneous() { return }
        if cursor.isAt("</") { return try endTag() }
        if cursor.isAt("<![CDATA[") { return try characterData() }
        open[open.count - 1].hasChildren = true
        try startTag()
    }

    private mutating func characterData() throws(TemplateFault) {
        var content = cursor
        content.advance(9)
        try cursor.skip(past: "]]>")
        while content.offset < cursor.offset - 3 { try content.literalCharacter(into: &open[open.count - 1].text) }
    }

    private mutating func endTag() throws(TemplateFault) {
        let start = cursor.offset
        guard var element = open.popLast() else { throw cursor.fault(.mismatchedTag) }
        cursor.advance(2)
        let name = try cursor.name()
        guard cursor.bytes[name].elementsEqual(cursor.bytes[element.name]) else { throw cursor.fault(.mismatchedTag, at: start) }
        cursor.skipSpace()
        guard cursor.take(">") else { throw cursor.fault(.malformedTag) }
        element.text.end = start
        guard !element.hasChildren, let expression = try ExpressionParser.parse(element.text) else { return }
        keep(expression, element.content..<start)
    }

    private mutating func keep(_ expression: TemplateExpression, _ range: Range<Int>) {
        flush(to: range.lowerBound)
        segments.append(.text(expression))
        pending = range.upperBound
    }

    private mutating func flush(to end: Int) {
        if pending < end { segments.append(.literal(pending..<end)) }
        pending = end
    }

    private mutating func startTag() throws(TemplateFault) {
        let start = cursor.offset
        guard cursor.take("<") else { throw cursor.fault(open.isEmpty ? .expectedElement : .malformedTag) }
        if cursor.isAt("!") { throw cursor.fault(.documentType, at: start) }
        let name = try cursor.name()
        try attributes()
        if cursor.take("/") {
            guard cursor.take(">") else { throw cursor.fault(.malformedTag) }
            return
        }
        guard cursor.take(">") else { throw cursor.fault(.malformedTag) }
        guard open.count < TemplateLimits.depth else { throw cursor.fault(.tooDeep(limit: TemplateLimits.depth), at: start) }
        open.append(Element(name: name, content: cursor.offset, text: PositionedText(end: cursor.offset)))
    }

    private mutating func attributes() throws(TemplateFault) {
        var names: Set<[UInt8]> = []
        while true {
            let end = cursor.offset
            cursor.skipSpace()
            if cursor.isAtEnd || cursor.isAt(">") || cursor.isAt("/") { return }
            guard cursor.offset > end else { throw cursor.fault(.malformedTag) }
            let name = try cursor.name()
            guard names.insert(Array(cursor.bytes[name])).inserted else {
                throw cursor.fault(.duplicateAttribute, at: name.lowerBound)
            }
            cursor.skipSpace()
            guard cursor.take("=") else { throw cursor.fault(.malformedAttribute) }
            cursor.skipSpace()
            try attributeValue()
        }
    }

    private mutating func attributeValue() throws(TemplateFault) {
        guard let quote = cursor.takeQuote() else { throw cursor.fault(.malformedAttribute) }
        let start = cursor.offset
        var text = PositionedText(end: start)
        while !cursor.isAtEnd, cursor.byte != quote {
            guard !cursor.isAt("<") else { throw cursor.fault(.malformedAttribute) }
            try cursor.character(into: &text)
        }
        let end = cursor.offset
        guard cursor.takeQuote() != nil else { throw cursor.fault(.unterminatedMarkup, at: start - 1) }
        text.end = end
        if let expression = try ExpressionParser.parse(text) { keep(expression, start..<end) }
    }
}

/// What a template needs of XML: a mistake is at a byte, and each character of a text knows its own.
extension XMLCursor {
    init(_ text: String) { self.init(Array(text.utf8)) }

    /// Goes behind the next occurrence of `text`.
    mutating func skip(past text: StaticString) throws(TemplateFault) {
        let start = offset
        while !take(text) {
            guard !isAtEnd else { throw fault(.unterminatedMarkup, at: start) }
            advance(1)
        }
    }

    /// Skips a comment or a processing instruction; false if there is none.
    mutating func skipMiscellaneous() throws(TemplateFault) -> Bool {
        let start = offset
        if take("<!--") {
            try skip(past: "--")
            guard take(">") else { throw fault(.unterminatedMarkup, at: start) }
            return true
        }
        guard take("<?") else { return false }
        let target = try name()
        guard String(decoding: bytes[target], as: UTF8.self).lowercased() != "xml" else { throw fault(.malformedTag, at: start) }
        try skip(past: "?>")
        return true
    }

    /// A name, prefix included. Any character beyond ASCII may be in it.
    mutating func name() throws(TemplateFault) -> Range<Int> {
        let start = offset
        guard XMLName.canStart(byte) || byte == UInt8(ascii: ":") else { throw fault(.malformedName) }
        while XMLName.canContinue(byte) { advance(1) }
        return start..<offset
    }

    func fault(_ reason: TemplateError.Reason, at offset: Int? = nil) -> TemplateFault {
        TemplateFault(reason, at: offset ?? self.offset)
    }

    /// Reads one character of text or of an attribute, a reference decoded.
    mutating func character(into text: inout PositionedText) throws(TemplateFault) {
        guard byte == UInt8(ascii: "&") else {
            if isAt("]]>") { throw fault(.malformedTag) }
            return try literalCharacter(into: &text)
        }
        let end = bytes[offset...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
        guard let end, let scalar = XMLCursor.scalar(ofReference: bytes[(offset + 1)..<end]) else {
            throw fault(.malformedReference)
        }
        text.append(scalar, at: offset)
        advance(end + 1 - offset)
    }

    /// Reads one character as it stands.
    mutating func literalCharacter(into text: inout PositionedText) throws(TemplateFault) {
        let count = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        let decoded = String(decoding: bytes[offset...].prefix(count), as: UTF8.self).unicodeScalars.first
        guard let scalar = decoded, XMLCursor.isCharacter(scalar) else { throw fault(.controlCharacter) }
        text.append(scalar, at: offset)
        advance(count)
    }
}
