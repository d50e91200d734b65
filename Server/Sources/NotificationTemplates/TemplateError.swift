/// Why a template, or what should fill one, is refused, and where.
public struct TemplateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was read.
    public enum Part: Hashable, Sendable, CustomStringConvertible {
        case body
        case properties
        case expiry
        case priority
        /// A header's value; the name is only shown if it is one that a header may have.
        case header(String)

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

    /// What is wrong, in the words for the caller.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        private init(_ description: String) { self.description = description }

        // Size and shape
        static let empty = Reason("it is empty")
        static func tooLarge(limit: Int) -> Reason { Reason("it is larger than \(limit) bytes") }
        static func tooDeep(limit: Int) -> Reason { Reason("it is nested deeper than \(limit)") }
        // JSON
        static let expectedObject = Reason("a JSON object is expected")
        static let expectedValue = Reason("a JSON value is expected")
        static let expectedName = Reason("a name in quotes is expected")
        static let expectedColon = Reason("a colon is expected")
        static let expectedCommaOrBrace = Reason("a comma or a closing brace is expected")
        static let expectedCommaOrBracket = Reason("a comma or a closing bracket is expected")
        static let expectedDigit = Reason("a digit is expected")
        static let expectedEnd = Reason("nothing may follow the end")
        static let unterminatedString = Reason("the closing quote is missing")
        static let controlCharacter = Reason("a control character must be escaped")
        static let unknownEscape = Reason("this escape is not known to JSON")
        static let malformedUnicodeEscape = Reason("four hexadecimal digits are expected")
        static let loneSurrogate = Reason("half of a surrogate pair stands alone")
        static let duplicateName = Reason("an object has the same name twice")
        // XML
        static let expectedElement = Reason("an XML element is expected")
        static let malformedName = Reason("an XML name is expected")
        static let malformedTag = Reason("the tag is not well formed")
        static let mismatchedTag = Reason("the end tag does not match the start tag")
        static let malformedAttribute = Reason("an attribute is a name, = and a value in quotes without <")
        static let duplicateAttribute = Reason("an element has the same attribute twice")
        static let malformedReference = Reason("& begins one of &amp; &lt; &gt; &quot; &apos; or a character number")
        static let documentType = Reason("a document type is not allowed")
        static let unterminatedMarkup = Reason("the end of the markup is missing")
        static let textOutsideRoot = Reason("text stands outside the root element")
        // Expressions
        static let bodyExpression = Reason("$body is not supported")
        static let expectedTerm = Reason("$( .( %( or a literal in quotes is expected")
        static let expectedParenthesis = Reason(
            "( is expected: a text that begins with $ . % # or { is an expression; write {'…'} to mean it literally")
        static let missingParenthesis = Reason("the closing parenthesis is missing")
        static let missingBrace = Reason("+ or the closing brace of the concatenation is expected")
        static let textAfterExpression = Reason(
            "an expression stands alone in its text; write {$(name) + '…'} to join it with others")
        static let missingPropertyName = Reason("the property name is missing")
        static let malformedPropertyName = Reason("a property name has letters A to Z, digits and _ only")
        static func propertyNameTooLong(limit: Int) -> Reason { Reason("the property name is longer than \(limit) characters") }
        static let unterminatedFallback = Reason("the closing brace of the fallback is missing")
        static let unterminatedLiteral = Reason("the closing quote of the literal is missing")
        static let missingLength = Reason("a length is mandatory with .( as in .(name, 20)")
        static let forbiddenLength = Reason("a length is not allowed with %( and #(")
        static let malformedLength = Reason("the length is not a whole number from 0 to 2147483647")
        static let bareInConcatenation = Reason("#( cannot be joined with others")
        // Properties
        static let nestedProperty = Reason("a property is a text, a number or a boolean, not an object or a list")
        static let duplicateProperty = Reason("two properties have names that differ in case at most")
        static func tooManyProperties(limit: Int) -> Reason { Reason("there are more than \(limit) properties") }
        // Headers, expiry and priority
        static let malformedExpiry = Reason(
            "it is neither an expression, nor 0, nor a date-time such as 2026-03-01T10:00:00+01:00")
        static let malformedPriority = Reason("it is neither an expression nor a whole number from 0 to 255")
        static let malformedHeaderName = Reason("the name has characters that a header name cannot have, or too many")
        static let foreignHeaderName = Reason("the name does not begin with apns-")
        static let malformedHeaderValue = Reason("the value is not one that this header can have")
        static let duplicateHeader = Reason("the header is there twice")
        static let missingHeader = Reason("the header is mandatory")
        static func tooManyHeaders(limit: Int) -> Reason { Reason("there are more than \(limit) headers") }
    }

    public let reason: Reason
    /// What was read.
    public let part: Part
    /// The character (Unicode scalar) where it was noticed, counted from 1; 0 when it is not at one place.
    public let position: Int

    init(_ reason: Reason, in part: Part, at position: Int) {
        self.reason = reason
        self.part = part
        self.position = position
    }

    /// Turns the byte of a fault into a character.
    init(_ fault: TemplateFault, in part: Part, of bytes: [UInt8]) {
        let before = fault.offset.map { offset in bytes.prefix(offset).count { $0 & 0xC0 != 0x80 } + 1 }
        self.init(fault.reason, in: part, at: before ?? 0)
    }

    /// A sentence for the caller, such as "the template body, at character 23: …"; it repeats nothing of the input but the
    /// name of a header.
    public var description: String {
        position > 0 ? "\(part), at character \(position): \(reason)" : "\(part): \(reason)"
    }
}

/// What a parser reports: the reason and the byte; the caller adds the part of the template.
struct TemplateFault: Error {
    let reason: TemplateError.Reason
    /// `nil` when it is not at one place.
    let offset: Int?

    init(_ reason: TemplateError.Reason, at offset: Int?) {
        self.reason = reason
        self.offset = offset
    }
}

/// Why a template that is in order could not be filled with these properties.
public enum TemplateRenderingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The result has more bytes than allowed.
    case tooLarge(limit: Int)
    /// The filled expiry is neither 0 nor a date-time.
    case malformedExpiry
    /// The filled priority is not a whole number from 0 to 255.
    case malformedPriority
    /// The filled value of this header has characters that a header cannot carry, or is not a value of this header.
    case malformedHeader(String)

    /// A sentence for the caller; it repeats nothing of the properties.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "the filled template is larger than \(limit) bytes"
        case .malformedExpiry: "the filled expiry is neither 0 nor a date-time"
        case .malformedPriority: "the filled priority is not a whole number from 0 to 255"
        case .malformedHeader(let name): "the filled header \(name) has a value that it cannot have"
        }
    }
}
