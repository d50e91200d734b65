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
