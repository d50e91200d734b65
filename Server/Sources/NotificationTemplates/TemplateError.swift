/// Why a template, or what should fill one, is refused, and where.
public struct TemplateError: Error, Hashable, Sendable {
    /// What was read.
    public enum Part: Hashable, Sendable {
        case body
        case properties
        case expiry
        case priority
        /// A header's value; the name is only shown if it is one that a header may have.
        case header(String)
    }

    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        // Size and shape
        case empty
        case tooLarge(limit: Int)
        case tooDeep(limit: Int)
        // JSON
        case expectedObject
        case expectedValue
        case expectedName
        case expectedColon
        case expectedCommaOrBrace
        case expectedCommaOrBracket
        case expectedDigit
        case expectedEnd
        case unterminatedString
        case controlCharacter
        case unknownEscape
        case malformedUnicodeEscape
        case loneSurrogate
        case duplicateName
        // XML
        case expectedElement
        case malformedName
        case malformedTag
        case mismatchedTag
        case malformedAttribute
        case duplicateAttribute
        case malformedReference
        case documentType
        case unterminatedMarkup
        case textOutsideRoot
        // Expressions
        case bodyExpression
        case expectedTerm
        case expectedParenthesis
        case missingParenthesis
        case missingBrace
        case textAfterExpression
        case missingPropertyName
        case malformedPropertyName
        case propertyNameTooLong(limit: Int)
        case unterminatedFallback
        case unterminatedLiteral
        case missingLength
        case forbiddenLength
        case malformedLength
        case bareInConcatenation
        // Properties
        case nestedProperty
        case duplicateProperty
        case tooManyProperties(limit: Int)
        // Headers, expiry and priority
        case malformedExpiry
        case malformedPriority
        case malformedHeaderName
        case foreignHeaderName
        case malformedHeaderValue
        case duplicateHeader
        case missingHeader
        case tooManyHeaders(limit: Int)
    }

    public let reason: Reason
    /// What was read.
    public let part: Part
    /// The character (Unicode scalar) where it was noticed, counted from 1; 0 when it is not at one place.
    public let position: Int

    /// Creates an error.
    public init(_ reason: Reason, in part: Part, at position: Int) {
        self.reason = reason
        self.part = part
        self.position = position
    }
}

extension TemplateError {
    /// Turns the byte of a fault into a character.
    init(_ fault: TemplateFault, in part: Part, of bytes: [UInt8]) {
        let before = fault.offset.map { offset in bytes.prefix(offset).count { $0 & 0xC0 != 0x80 } + 1 }
        self.init(fault.reason, in: part, at: before ?? 0)
    }
}
