import WireText

/// Reads a JSON body once (RFC 8259) and cuts it into the pieces that stay and the places that properties fill.
///
/// Like the parser of the service's own requests it refuses a name twice in one object, because the value that was checked and the
/// value that a phone uses could be two.
struct JSONTemplateParser {
    private var cursor: JSONCursor
    private var segments: [TemplateSegment] = []
    /// Where the text begins that is in no segment yet.
    private var pending = 0

    private init(_ text: String) { cursor = JSONCursor(text, depthLimit: TemplateLimits.depth) }

    static func parse(_ text: String) throws(TemplateFault) -> [TemplateSegment] {
        var parser = JSONTemplateParser(text)
        parser.cursor.skipBlanks()
        guard parser.cursor.peek != nil else { throw TemplateFault(.empty, at: nil) }
        guard parser.cursor.peek == UInt8(ascii: "{") else { throw parser.cursor.fault(.expectedObject) }
        try parser.object()
        try parser.cursor.finish()
        parser.flush(to: parser.cursor.position)
        return parser.segments
    }

    private mutating func value() throws(TemplateFault) {
        switch cursor.kind {
        case .object: try object()
        case .list: try list()
        default: try cursor.plainValue()
        }
    }

    private mutating func list() throws(TemplateFault) {
        var isFirst = true
        while try cursor.element(&isFirst) {
            if cursor.kind == .string { try element() } else { try value() }
        }
    }

    /// A string in a list.
    private mutating func element() throws(TemplateFault) {
        let start = cursor.position
        guard let expression = try ExpressionParser.parse(try cursor.positionedText()) else { return }
        guard let property = expression.bareProperty else { return keep(expression, from: start) }
        flush(to: start)
        segments.append(.element(property))
        pending = cursor.position
    }

    /// A string with an expression; its quotes stay.
    private mutating func keep(_ expression: TemplateExpression, from start: Int) {
        flush(to: start + 1)
        segments.append(.text(expression))
        pending = cursor.position - 1
    }

    private mutating func flush(to end: Int) {
        if pending < end { segments.append(.literal(pending..<end)) }
        pending = end
    }

    /// What is known of the members of an object that were read.
    private struct Members {
        var names: Set<[UInt8]> = []
        var hasOptional = false
        var hasRequired = false
        /// The comma or, for the first one, the end of the brace.
        var start: Int
    }

    private mutating func object() throws(TemplateFault) {
        var members = Members(start: cursor.position + 1)
        var isFirst = true
        while let name = try cursor.member(&isFirst) {
            guard members.names.insert(Array(name.utf8)).inserted else { throw TemplateFault(cursor.duplicateName) }
            try readValue(in: &members)
            cursor.skipBlanks()
            members.start = cursor.position
        }
    }

    private mutating func readValue(in members: inout Members) throws(TemplateFault) {
        guard cursor.kind == .string else {
            require(&members)
            return try value()
        }
        let quote = cursor.position
        let expression = try ExpressionParser.parse(try cursor.positionedText())
        if let property = expression?.bareProperty { return leaveOpen(property, at: quote, in: &members) }
        require(&members)
        if let expression { keep(expression, from: quote) }
    }

    /// A member that is always there. If all before it may be left out, so may the comma.
    private mutating func require(_ members: inout Members) {
        if members.hasOptional, !members.hasRequired {
            flush(to: members.start)
            segments.append(.comma)
            pending = members.start + 1
        }
        members.hasRequired = true
    }

    /// A member whose value may be absent.
    private mutating func leaveOpen(
        _ property: TemplateExpression.Property, at quote: Int, in members: inout Members
    ) {
        let isFirst = !members.hasRequired && !members.hasOptional
        flush(to: members.start)
        let end = cursor.position
        cursor.skipBlanks()
        segments.append(
            .member(
                TemplateSegment.Member(
                    comma: isFirst ? .never : members.hasRequired ? .always : .ifAnyBefore,
                    name: (isFirst ? members.start : members.start + 1)..<quote, property: property,
                    tail: end..<cursor.position)))
        pending = cursor.position
        members.hasOptional = true
    }
}

/// What a template needs of JSON: its own errors, and the byte of each character of a text.
extension JSONCursor {
    /// Whether the text is nothing but a JSON number, `true` or `false`.
    static func isNumberOrBoolean(_ text: String) -> Bool {
        if text == "true" || text == "false" { return true }
        var cursor = JSONCursor(text)
        return (try? cursor.number()) != nil && cursor.peek == nil
    }

    /// Reads a string in quotes and returns what it says, each character with its byte.
    mutating func positionedText() throws(TemplateFault) -> PositionedText {
        var text = PositionedText(end: position)
        do throws(JSONFault) {
            let end = try string { text.append($0, at: $1) }
            text.end = end
        } catch { throw TemplateFault(error) }
        return text
    }

    mutating func member(_ isFirst: inout Bool) throws(TemplateFault) -> String? {
        do throws(JSONFault) { return try nextName(&isFirst) } catch { throw TemplateFault(error) }
    }

    mutating func element(_ isFirst: inout Bool) throws(TemplateFault) -> Bool {
        do throws(JSONFault) { return try nextElement(&isFirst) } catch { throw TemplateFault(error) }
    }

    mutating func plainValue() throws(TemplateFault) {
        do throws(JSONFault) { try skipPlainValue() } catch { throw TemplateFault(error) }
    }

    /// Passes blanks, behind which the text must end.
    mutating func finish() throws(TemplateFault) {
        do throws(JSONFault) { try end() } catch { throw TemplateFault(error) }
    }

    func fault(_ reason: TemplateError.Reason, at offset: Int? = nil) -> TemplateFault {
        TemplateFault(reason, at: offset ?? position)
    }
}

extension TemplateFault {
    init(_ fault: JSONFault) {
        let (reason, offset): (TemplateError.Reason, Int) =
            switch fault.problem {
            case .value, .notUTF8, .rule: (.expectedValue, fault.start)
            case .tooDeep(let limit): (.tooDeep(limit: limit), fault.offset)
            case .name: (.expectedName, fault.offset)
            case .colon: (.expectedColon, fault.offset)
            case .commaOrBrace: (.expectedCommaOrBrace, fault.offset)
            case .commaOrBracket: (.expectedCommaOrBracket, fault.offset)
            case .digit: (.expectedDigit, fault.offset)
            case .duplicateName: (.duplicateName, fault.start)
            case .unterminatedString: (.unterminatedString, fault.start)
            case .controlCharacter: (.controlCharacter, fault.offset)
            case .unterminatedEscape, .unknownEscape: (.unknownEscape, fault.start)
            case .malformedUnicodeEscape: (.malformedUnicodeEscape, fault.offset)
            case .loneSurrogate: (.loneSurrogate, fault.start)
            case .end: (.expectedEnd, fault.offset)
            }
        self.init(reason, at: offset)
    }
}
