import WireText

extension XMLLimits {
    /// For one description, job or hub in a request.
    public static let request = XMLLimits()
    /// For what a hub elsewhere answers: a feed of many entries.
    public static let feed = XMLLimits(bytes: 32 * 1024 * 1024, elements: 500_000)
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
    var trimmed: String { text.trimmingBlanks }

    /// Whether the element says that it has no value, `i:nil="true"`.
    var isNull: Bool {
        guard let value = attribute("nil", in: Namespace.schemaInstance) else { return false }
        let word = value.trimmingBlanks
        return word == "true" || word == "1"
    }

    /// The type that the element names in `i:type`, without a prefix.
    var instanceType: String? {
        attribute("type", in: Namespace.schemaInstance).map { value in
            let word = value.trimmingBlanks
            return word.lastIndex(of: ":").map { String(word[word.index(after: $0)...]) } ?? word
        }
    }
}
