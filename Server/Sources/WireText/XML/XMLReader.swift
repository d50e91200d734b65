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
    var elementCount = 0

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
    mutating func skipMiscellany() throws(XMLFault) {
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

    mutating func skipComment() throws(XMLFault) {
        cursor.advance(4)
        try cursor.skip(through: "--")
        guard cursor.take(">") else { throw cursor.fault(.expected("the end of a comment")) }
    }

    mutating func skipInstruction() throws(XMLFault) {
        cursor.advance(2)
        let target = try cursor.readName()
        guard target.lowercased() != "xml" else { throw cursor.fault(.expected("the XML declaration at the very start")) }
        guard cursor.isAt("?>") || cursor.isAtSpace else { throw cursor.fault(.expected("a blank")) }
        try cursor.skip(through: "?>")
    }
}
