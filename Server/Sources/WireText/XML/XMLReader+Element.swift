extension XMLReader {
    /// The element that starts here, with all that is in it.
    mutating func readElement(depth: Int) throws(XMLFault) -> XMLElement {
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
    mutating func readReference() throws(XMLFault) -> Unicode.Scalar {
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
}
