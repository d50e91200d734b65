/// Why a text is not a document that is read here, and where.
public struct XMLFault: Error, Hashable, Sendable {
    /// What is wrong. The names of elements and attributes may be shown; their content is never part of it.
    public enum Problem: Hashable, Sendable {
        case empty
        case tooLong(limit: Int)
        case tooDeep(limit: Int)
        case tooManyElements(limit: Int)
        case tooManyAttributes(limit: Int)
        case textTooLong(limit: Int)
        case unsupportedEncoding
        case invalidBytes
        case invalidCharacter
        case documentType
        case undefinedEntity
        case unboundPrefix(String)
        case duplicateAttribute(String)
        case mismatchedEnd(expected: String)
        case unexpectedEnd
        case contentAfterEnd
        case expected(String)
    }

    public var problem: Problem
    public var position: XMLPosition

    /// Creates a fault.
    public init(_ problem: Problem, at position: XMLPosition) {
        self.problem = problem
        self.position = position
    }
}

extension XMLFault: CustomStringConvertible {
    public var description: String { "\(words) at \(position)" }

    private var words: String {
        switch problem {
        case .empty: "there is no element"
        case .tooLong(let limit): "the document has more than \(limit) bytes"
        case .tooDeep(let limit): "elements lie more than \(limit) deep"
        case .tooManyElements(let limit): "there are more than \(limit) elements"
        case .tooManyAttributes(let limit): "an element has more than \(limit) attributes"
        case .textTooLong(let limit): "an element has more than \(limit) bytes of text"
        case .unsupportedEncoding: "the encoding is neither UTF-8 nor UTF-16"
        case .invalidBytes: "the bytes are not valid in their encoding"
        case .invalidCharacter: "a character is not allowed in XML"
        case .documentType: "document types and entities are not accepted"
        case .undefinedEntity: "an entity is not defined"
        case .unboundPrefix(let prefix): "the prefix \(prefix.shortened) is not declared"
        case .duplicateAttribute(let name): "the attribute \(name.shortened) stands twice"
        case .mismatchedEnd(let name): "the element \(name.shortened) is not closed here"
        case .unexpectedEnd: "the document ends too early"
        case .contentAfterEnd: "something follows the end of the document"
        case .expected(let what): "\(what) is expected"
        }
    }
}

extension String {
    /// A name from outside, short enough for an error.
    package var shortened: String {
        unicodeScalars.count <= 80 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(80))) + "…"
    }
}
