extension XMLReader {
    /// The attributes up to the end of the tag, declarations of namespaces taken out and put in force.
    mutating func readAttributes() throws(XMLFault) -> [(name: String, value: String)] {
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
}
