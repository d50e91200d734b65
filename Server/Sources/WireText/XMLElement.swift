/// An element of a document that was read: the only form in which readers see XML.
public struct XMLElement: Hashable, Sendable {
    /// An attribute with its namespace resolved; one without a prefix has no namespace.
    public struct Attribute: Hashable, Sendable {
        public var namespace: String
        public var name: String
        public var value: String
    }

    /// The namespace, empty when there is none.
    public var namespace: String
    /// The name without its prefix.
    public var name: String
    public var attributes: [Attribute] = []
    public var children: [XMLElement] = []
    /// All character data directly inside, references resolved and line ends as LF.
    public var text = ""
    /// Where the element starts.
    public var position: XMLPosition

    /// The value of an attribute.
    public func attribute(_ name: String, in namespace: String = "") -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }
}

/// How large a document may be that a caller wants read. There is no expansion of any kind, so memory stays within a small
/// multiple of `bytes`.
public struct XMLLimits: Hashable, Sendable {
    /// Bytes of the document as it arrived.
    public var bytes: Int
    /// Elements inside each other.
    public var depth: Int
    /// Elements altogether.
    public var elements: Int
    /// Attributes of one element.
    public var attributes: Int
    /// Bytes of text directly inside one element.
    public var text: Int

    public init(
        bytes: Int = 256 * 1024, depth: Int = 32, elements: Int = 4096, attributes: Int = 32, text: Int = 128 * 1024
    ) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
        self.attributes = attributes
        self.text = text
    }
}

/// Why a text is not a document that is read here, and where.
public struct XMLFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, in the words for the caller. They show the names of elements and attributes, never their content.
    public struct Problem: Hashable, Sendable {
        public let words: String
        /// Whether the document is too large rather than wrong.
        public let isTooLong: Bool

        private init(_ words: String, isTooLong: Bool = false) {
            self.words = words
            self.isTooLong = isTooLong
        }

        public static let empty = Problem("there is no element")
        static func tooLong(limit: Int) -> Problem { Problem("the document has more than \(limit) bytes", isTooLong: true) }
        static func tooDeep(limit: Int) -> Problem { Problem("elements lie more than \(limit) deep") }
        static func tooManyElements(limit: Int) -> Problem { Problem("there are more than \(limit) elements") }
        static func tooManyAttributes(limit: Int) -> Problem { Problem("an element has more than \(limit) attributes") }
        static func textTooLong(limit: Int) -> Problem { Problem("an element has more than \(limit) bytes of text") }
        static let unsupportedEncoding = Problem("the encoding is neither UTF-8 nor UTF-16")
        static let invalidBytes = Problem("the bytes are not valid in their encoding")
        static let invalidCharacter = Problem("a character is not allowed in XML")
        static let documentType = Problem("document types and entities are not accepted")
        static let undefinedEntity = Problem("an entity is not defined")
        static func unboundPrefix(_ prefix: String) -> Problem { Problem("the prefix \(prefix.shortened) is not declared") }
        static func duplicateAttribute(_ name: String) -> Problem { Problem("the attribute \(name.shortened) stands twice") }
        static func mismatchedEnd(expected name: String) -> Problem {
            Problem("the element \(name.shortened) is not closed here")
        }
        static let unexpectedEnd = Problem("the document ends too early")
        static let contentAfterEnd = Problem("something follows the end of the document")
        static func expected(_ what: String) -> Problem { Problem("\(what) is expected") }
    }

    public var problem: Problem
    public var position: XMLPosition

    init(_ problem: Problem, at position: XMLPosition) {
        self.problem = problem
        self.position = position
    }

    public var description: String { "\(problem.words) at \(position)" }
}

extension String {
    /// A name from outside, short enough for an error.
    package var shortened: String {
        unicodeScalars.count <= 80 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(80))) + "…"
    }
}

/// A place in a document, both numbers from 1; the column counts Unicode scalars.
public struct XMLPosition: Hashable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int

    public var description: String { "line \(line), column \(column)" }
}
