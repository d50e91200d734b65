import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An XML document as a generic parser sees it, apart from the product's own: names raw, with their prefix.
final class XMLTree: NSObject, XMLParserDelegate {
    final class Element {
        let name: String
        let attributes: [String: String]
        var children: [Element] = []
        var text = ""

        init(_ name: String, _ attributes: [String: String]) {
            self.name = name
            self.attributes = attributes
        }

        subscript(_ name: String) -> Element? { children.first { $0.name == name } }

        /// Whether text stands between elements: line breaks are what the .NET client fails on.
        var hasMixedText: Bool { (!children.isEmpty && !text.isEmpty) || children.contains { $0.hasMixedText } }

        /// All names below, this one included.
        var names: [String] { [name] + children.flatMap(\.names) }
    }

    private var path: [Element] = []
    private var root: Element?

    static func read(_ text: String) throws -> Element {
        let tree = XMLTree()
        let parser = XMLParser(data: Data(text.utf8))
        parser.shouldProcessNamespaces = false
        parser.delegate = tree
        guard parser.parse(), let root = tree.root else {
            throw ClientAnswer.Unreadable("not well-formed XML: \(text.prefix(200))")
        }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        let element = Element(name, attributes)
        path.last?.children.append(element)
        if path.isEmpty { root = element }
        path.append(element)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        path.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) { path.last?.text += text }

    func parser(_ parser: XMLParser, foundCDATA data: Data) { path.last?.text += String(decoding: data, as: UTF8.self) }
}
