/// Reads one document, or several after each other, into elements.
///
/// A strict reader of XML 1.0 with namespaces and without document types: what a document type could declare (entities,
/// defaults, external parts) does not exist here, so there is nothing to expand and nothing to fetch. Work and memory grow with
/// the bytes of the document alone.
public struct XMLReader {
    let limits: XMLLimits
    var cursor: XMLCursor
    /// The declarations in force, innermost last.
    var bindings: [(prefix: String, namespace: String)] = []
    private var elementCount = 0

    /// Reads a whole document and returns its element.
    public static func document(_ bytes: [UInt8], limits: XMLLimits) throws(XMLFault) -> XMLElement {
        var reader = try XMLReader(bytes, limits: limits)
        let root = try reader.nextDocument()
        try reader.skipMiscellany()
        guard reader.cursor.isAtEnd else { throw reader.cursor.fault(.contentAfterEnd) }
        return root
    }

    /// Reads documents that follow each other without a separator.
    public static func documents(_ bytes: [UInt8], limits: XMLLimits) throws(XMLFault) -> [XMLElement] {
        var reader = try XMLReader(bytes, limits: limits)
        var roots: [XMLElement] = []
        try reader.skipMiscellany()
        while !reader.cursor.isAtEnd {
            roots.append(try reader.nextDocument())
            try reader.skipMiscellany()
        }
        return roots
    }

    private init(_ bytes: [UInt8], limits: XMLLimits) throws(XMLFault) {
        guard bytes.count <= limits.bytes else {
            throw XMLFault(.tooLong(limit: limits.bytes), at: XMLPosition(line: 1, column: 1))
        }
        self.limits = limits
        cursor = XMLCursor(try XMLDecoding.utf8(bytes))
    }

    private mutating func nextDocument() throws(XMLFault) -> XMLElement {
        if cursor.isAt("<?xml ") || cursor.isAt("<?xml\t") || cursor.isAt("<?xml\n") || cursor.isAt("<?xml\r") {
            try readDeclaration()
        }
        try skipMiscellany()
        guard !cursor.isAtEnd else { throw cursor.fault(.empty) }
        guard cursor.isAtName else { throw cursor.fault(.expected("an element")) }
        bindings.removeAll(keepingCapacity: true)
        return try readElement(depth: 1)
    }

    /// Comments, processing instructions and white space, which mean nothing here.
    private mutating func skipMiscellany() throws(XMLFault) {
        while true {
            cursor.skipSpace()
            if cursor.isAt("<!--") {
                try skipComment()
            } else if cursor.isAt("<!") {
                throw cursor.fault(.documentType)
            } else if cursor.isAt("<?"), !cursor.isAt("<?xml ") {
                try skipInstruction()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(XMLFault) {
        cursor.advance(4)
        try cursor.skip(through: "--")
        guard cursor.take(">") else { throw cursor.fault(.expected("the end of a comment")) }
    }

    private mutating func skipInstruction() throws(XMLFault) {
        cursor.advance(2)
        let target = try cursor.readName()
        guard target.lowercased() != "xml" else { throw cursor.fault(.expected("the XML declaration at the very start")) }
        guard cursor.isAt("?>") || cursor.isAtSpace else { throw cursor.fault(.expected("a blank")) }
        try cursor.skip(through: "?>")
    }

    /// The element that starts here, with all that is in it.
    private mutating func readElement(depth: Int) throws(XMLFault) -> XMLElement {
        guard depth <= limits.depth else { throw cursor.fault(.tooDeep(limit: limits.depth)) }
        elementCount += 1
        guard elementCount <= limits.elements else { throw cursor.fault(.tooManyElements(limit: limits.elements)) }
        let position = cursor.position()
        let outerBindings = bindings.count
        defer { bindings.removeLast(bindings.count - outerBindings) }
        cursor.advance(1)
        let name = try cursor.readName()
        let attributes = try readAttributes()
        let (prefix, local) = XMLName.split(name)
        var element = XMLElement(namespace: try namespace(of: prefix), name: local, position: position)
        element.attributes = try resolve(attributes)
        if cursor.take("/>") { return element }
        guard cursor.take(">") else { throw cursor.fault(.expected("the end of a tag")) }
        try readContent(of: &element, depth: depth)
        try readEnd(of: name)
        return element
    }

    private mutating func readEnd(of name: String) throws(XMLFault) {
        let before = cursor
        guard cursor.take("</"), try cursor.readName() == name else { throw before.fault(.mismatchedEnd(expected: name)) }
        cursor.skipSpace()
        guard cursor.take(">") else { throw cursor.fault(.expected("the end of a tag")) }
    }

    private mutating func readContent(of element: inout XMLElement, depth: Int) throws(XMLFault) {
        var text: [UInt8] = []
        while !cursor.isAt("</") {
            guard !cursor.isAtEnd else { throw cursor.fault(.unexpectedEnd) }
            if cursor.byte != UInt8(ascii: "<") {
                try readText(into: &text)
            } else if cursor.isAt("<!--") {
                try skipComment()
            } else if cursor.take("<![CDATA[") {
                let start = cursor.offset
                try cursor.skip(through: "]]>")
                Self.append(cursor.bytes(from: start).dropLast(3), to: &text)
            } else if cursor.isAt("<!") {
                throw cursor.fault(.documentType)
            } else if cursor.isAt("<?") {
                try skipInstruction()
            } else if cursor.isAtName {
                element.children.append(try readElement(depth: depth + 1))
            } else {
                throw cursor.fault(.expected("an element"))
            }
            guard text.count <= limits.text else { throw cursor.fault(.textTooLong(limit: limits.text)) }
        }
        element.text = String(decoding: text, as: UTF8.self)
    }

    /// Character data up to the next `<`.
    private mutating func readText(into text: inout [UInt8]) throws(XMLFault) {
        var start = cursor.offset
        while !cursor.isAtEnd, cursor.byte != UInt8(ascii: "<") {
            if cursor.byte == UInt8(ascii: "&") {
                Self.append(cursor.bytes(from: start), to: &text)
                text.append(contentsOf: try readReference().utf8)
                start = cursor.offset
                continue
            }
            if cursor.byte == UInt8(ascii: "]"), cursor.isAt("]]>") { throw cursor.fault(.expected("&gt; after ]]")) }
            try cursor.checkCharacter()
            cursor.advance(1)
        }
        Self.append(cursor.bytes(from: start), to: &text)
    }

    /// Adds bytes with every line end as LF (XML 1.0, 2.11).
    private static func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        guard bytes.contains(0x0D) else { return text.append(contentsOf: bytes) }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == 0x0D {
                text.append(0x0A)
                if index + 1 < bytes.endIndex, bytes[index + 1] == 0x0A { index += 1 }
            } else {
                text.append(bytes[index])
            }
            index += 1
        }
    }

    /// `&…;`: the five names of XML itself, or a character by its number.
    private mutating func readReference() throws(XMLFault) -> Unicode.Scalar {
        // No name is longer than a number of eight digits.
        guard let end = cursor.bytes[cursor.offset...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw cursor.fault(.undefinedEntity)
        }
        let name = cursor.bytes[(cursor.offset + 1)..<end]
        guard let scalar = XMLCursor.scalar(ofReference: name) else {
            throw cursor.fault(name.first == UInt8(ascii: "#") ? .invalidCharacter : .undefinedEntity)
        }
        cursor.advance(name.count + 2)
        return scalar
    }

    /// The attributes up to the end of the tag, declarations of namespaces taken out and put in force.
    private mutating func readAttributes() throws(XMLFault) -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        var declared: [String] = []
        while true {
            let spaced = cursor.skipSpace()
            if cursor.isAt(">") || cursor.isAt("/>") { return attributes }
            guard spaced else { throw cursor.fault(cursor.isAtEnd ? .unexpectedEnd : .expected("a blank")) }
            guard attributes.count + declared.count < limits.attributes else {
                throw cursor.fault(.tooManyAttributes(limit: limits.attributes))
            }
            let before = cursor
            let name = try cursor.readName()
            guard !declared.contains(name), !attributes.contains(where: { $0.name == name }) else {
                throw before.fault(.duplicateAttribute(name))
            }
            cursor.skipSpace()
            guard cursor.take("=") else { throw cursor.fault(.expected("=")) }
            cursor.skipSpace()
            let value = try readValue()
            if name == "xmlns" || name.hasPrefix("xmlns:") {
                try declare(name == "xmlns" ? "" : String(name.dropFirst(6)), value, at: before)
                declared.append(name)
            } else {
                attributes.append((name, value))
            }
        }
    }

    private mutating func readValue() throws(XMLFault) -> String {
        guard let quote = cursor.takeQuote() else { throw cursor.fault(.expected("a quotation mark")) }
        var value: [UInt8] = []
        while cursor.byte != quote {
            guard !cursor.isAtEnd else { throw cursor.fault(.unexpectedEnd) }
            switch cursor.byte {
            case UInt8(ascii: "<"): throw cursor.fault(.expected("&lt;"))
            case UInt8(ascii: "&"): value.append(contentsOf: try readReference().utf8)
            case 0x09, 0x0A, 0x0D:
                // A line end is one blank (XML 1.0, 3.3.3).
                if !cursor.take("\r\n") { cursor.advance(1) }
                value.append(0x20)
            default:
                try cursor.checkCharacter()
                value.append(cursor.byte)
                cursor.advance(1)
            }
            guard value.count <= limits.text else { throw cursor.fault(.textTooLong(limit: limits.text)) }
        }
        cursor.advance(1)
        return String(decoding: value, as: UTF8.self)
    }

    private static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    private mutating func declare(_ prefix: String, _ namespace: String, at place: XMLCursor) throws(XMLFault) {
        let isXML = prefix == "xml"
        guard prefix != "xmlns", isXML == (namespace == Self.xmlNamespace), namespace != "http://www.w3.org/2000/xmlns/",
            prefix.isEmpty || !namespace.isEmpty
        else { throw place.fault(.expected("a namespace that may be declared")) }
        bindings.append((prefix, namespace))
    }

    /// The namespace of a prefix of an element.
    func namespace(of prefix: String) throws(XMLFault) -> String {
        if let binding = bindings.last(where: { $0.prefix == prefix }) { return binding.namespace }
        if prefix.isEmpty { return "" }
        if prefix == "xml" { return Self.xmlNamespace }
        throw cursor.fault(.unboundPrefix(prefix))
    }

    /// Attributes with their namespaces. Two prefixes of one namespace cannot hide a repeated attribute.
    func resolve(_ attributes: [(name: String, value: String)]) throws(XMLFault) -> [XMLElement.Attribute] {
        var resolved: [XMLElement.Attribute] = []
        for (name, value) in attributes {
            let (prefix, local) = XMLName.split(name)
            let space = prefix.isEmpty ? "" : try namespace(of: prefix)
            guard !resolved.contains(where: { $0.name == local && $0.namespace == space }) else {
                throw cursor.fault(.duplicateAttribute(name))
            }
            resolved.append(XMLElement.Attribute(namespace: space, name: local, value: value))
        }
        return resolved
    }

    /// `<?xml version="1.0" encoding="…" standalone="…"?>`. The name of the encoding must be one of those that are read; which
    /// of them it is, the bytes say: .NET writes `utf-16` on texts that travel as UTF-8
    /// (Reference/AzureNotificationHubs.md#2-11).
    private mutating func readDeclaration() throws(XMLFault) {
        cursor.advance(5)
        var expected: [String] = ["version", "encoding", "standalone"]
        var first = true
        while true {
            let spaced = cursor.skipSpace()
            if cursor.take("?>") { break }
            guard spaced else { throw cursor.fault(.expected("a blank")) }
            let name = try cursor.readName()
            guard let index = expected.firstIndex(of: name), !first || index == 0 else {
                throw cursor.fault(.expected("an XML declaration"))
            }
            try check(name, try readPseudoAttribute())
            expected.removeFirst(index + 1)
            first = false
        }
        guard !first else { throw cursor.fault(.expected("a version")) }
    }

    private mutating func readPseudoAttribute() throws(XMLFault) -> String {
        cursor.skipSpace()
        guard cursor.take("=") else { throw cursor.fault(.expected("=")) }
        cursor.skipSpace()
        guard let quote = cursor.takeQuote() else { throw cursor.fault(.expected("a quotation mark")) }
        return try cursor.read(until: quote)
    }

    private func check(_ name: String, _ value: String) throws(XMLFault) {
        switch name {
        case "version":
            guard value == "1.0" || value == "1.1" else { throw cursor.fault(.expected("version 1.0")) }
        case "encoding":
            guard ["utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "us-ascii"].contains(value.lowercased()) else {
                throw cursor.fault(.unsupportedEncoding)
            }
        default:
            guard value == "yes" || value == "no" else { throw cursor.fault(.expected("yes or no")) }
        }
    }
}
