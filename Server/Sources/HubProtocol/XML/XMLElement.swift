/// An element of a document that was read: the only form in which the readers of this module see XML.
struct XMLElement: Hashable, Sendable {
    /// An attribute with its namespace resolved; one without a prefix has no namespace.
    struct Attribute: Hashable, Sendable {
        var namespace: String
        var name: String
        var value: String
    }

    /// The namespace, empty when there is none.
    var namespace: String
    /// The name without its prefix.
    var name: String
    var attributes: [Attribute] = []
    var children: [XMLElement] = []
    /// All character data directly inside, references resolved and line ends as LF.
    var text = ""
    /// Where the element starts.
    var position: XMLPosition
}

extension XMLElement {
    /// Whether the element has this name. A missing namespace is forgiven, a foreign one is not.
    func isNamed(_ name: String, in namespace: String) -> Bool {
        self.name == name && (self.namespace == namespace || self.namespace.isEmpty)
    }

    /// The first child of this name, unless it is marked as null (`i:nil`).
    func child(_ name: String, in namespace: String = Namespace.serviceBus) -> XMLElement? {
        children.first { $0.isNamed(name, in: namespace) && !$0.isNull }
    }

    /// The children of this name that are not marked as null.
    func children(_ name: String, in namespace: String = Namespace.serviceBus) -> [XMLElement] {
        children.filter { $0.isNamed(name, in: namespace) && !$0.isNull }
    }

    /// The text of the first child of this name without the blanks at its ends; `nil` when there is none or it is empty.
    func value(_ name: String, in namespace: String = Namespace.serviceBus) -> String? {
        guard let text = child(name, in: namespace)?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    /// The text without the white space at its ends, which pretty-printing clients put there
    /// (Reference/AzureNotificationHubs.md#2-1).
    var trimmed: String { text.trimmingXMLSpace() }

    /// Whether the element says that it has no value, `i:nil="true"`.
    var isNull: Bool {
        guard let value = attribute("nil", in: Namespace.schemaInstance) else { return false }
        let word = value.trimmingXMLSpace()
        return word == "true" || word == "1"
    }

    /// The type that the element names in `i:type`, without a prefix.
    var instanceType: String? {
        attribute("type", in: Namespace.schemaInstance).map { value in
            let word = value.trimmingXMLSpace()
            return word.lastIndex(of: ":").map { String(word[word.index(after: $0)...]) } ?? word
        }
    }

    /// The value of an attribute.
    func attribute(_ name: String, in namespace: String = "") -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }
}

extension String {
    /// The text without blanks, tabs and line ends around it.
    func trimmingXMLSpace() -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
