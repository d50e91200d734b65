extension TemplateError: CustomStringConvertible {
    /// A sentence for the caller, such as "the template body, at character 23: …"; it repeats nothing of the input but the
    /// name of a header.
    public var description: String {
        position > 0 ? "\(part), at character \(position): \(reason)" : "\(part): \(reason)"
    }
}

extension TemplateError.Part: CustomStringConvertible {
    public var description: String {
        switch self {
        case .body: "the template body"
        case .properties: "the template properties"
        case .expiry: "the template expiry"
        case .priority: "the template priority"
        case .header(let name): TemplateHeaders.isName(name) ? "the template header \(name)" : "a template header"
        }
    }
}

extension TemplateError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "it is empty"
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        case .tooDeep(let limit): "it is nested deeper than \(limit)"
        case .nestedProperty: "a property is a text, a number or a boolean, not an object or a list"
        case .duplicateProperty: "two properties have names that differ in case at most"
        case .tooManyProperties(let limit): "there are more than \(limit) properties"
        case .expectedObject: "a JSON object is expected"
        case .expectedValue: "a JSON value is expected"
        case .expectedName: "a name in quotes is expected"
        case .expectedColon: "a colon is expected"
        case .expectedCommaOrBrace: "a comma or a closing brace is expected"
        case .expectedCommaOrBracket: "a comma or a closing bracket is expected"
        case .expectedDigit: "a digit is expected"
        case .expectedEnd: "nothing may follow the end"
        case .unterminatedString: "the closing quote is missing"
        case .controlCharacter: "a control character must be escaped"
        case .unknownEscape: "this escape is not known to JSON"
        case .malformedUnicodeEscape: "four hexadecimal digits are expected"
        case .loneSurrogate: "half of a surrogate pair stands alone"
        case .duplicateName: "an object has the same name twice"
        case .expectedElement: "an XML element is expected"
        case .malformedName: "an XML name is expected"
        case .malformedTag: "the tag is not well formed"
        case .mismatchedTag: "the end tag does not match the start tag"
        case .malformedAttribute: "an attribute is a name, = and a value in quotes without <"
        case .duplicateAttribute: "an element has the same attribute twice"
        case .malformedReference: "& begins one of &amp; &lt; &gt; &quot; &apos; or a character number"
        case .documentType: "a document type is not allowed"
        case .unterminatedMarkup: "the end of the markup is missing"
        case .textOutsideRoot: "text stands outside the root element"
        case .bodyExpression: "$body is not supported"
        case .expectedTerm: "$( .( %( or a literal in quotes is expected"
        case .expectedParenthesis:
            "( is expected: a text that begins with $ . % # or { is an expression; write {'…'} to mean it literally"
        case .missingParenthesis: "the closing parenthesis is missing"
        case .missingBrace: "+ or the closing brace of the concatenation is expected"
        case .textAfterExpression: "an expression stands alone in its text; write {$(name) + '…'} to join it with others"
        case .missingPropertyName: "the property name is missing"
        case .malformedPropertyName: "a property name has letters A to Z, digits and _ only"
        case .propertyNameTooLong(let limit): "the property name is longer than \(limit) characters"
        case .unterminatedFallback: "the closing brace of the fallback is missing"
        case .unterminatedLiteral: "the closing quote of the literal is missing"
        case .missingLength: "a length is mandatory with .( as in .(name, 20)"
        case .forbiddenLength: "a length is not allowed with %( and #("
        case .malformedLength: "the length is not a whole number from 0 to 2147483647"
        case .bareInConcatenation: "#( cannot be joined with others"
        case .malformedExpiry: "it is neither an expression, nor 0, nor a date-time such as 2026-03-01T10:00:00+01:00"
        case .malformedPriority: "it is neither an expression nor a whole number from 0 to 255"
        case .malformedHeaderName: "the name has characters that a header name cannot have, or too many"
        case .foreignHeaderName: "the name does not begin with apns-"
        case .malformedHeaderValue: "the value is not one that this header can have"
        case .duplicateHeader: "the header is there twice"
        case .missingHeader: "the header is mandatory"
        case .tooManyHeaders(let limit): "there are more than \(limit) headers"
        }
    }
}
