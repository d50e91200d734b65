import WireText

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
