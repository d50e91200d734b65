import RichPushModel
import WireText

/// Why a document of the protocol cannot be taken. The words name elements, lines and rules; never a value that could be a
/// device token or content.
public enum HubDocumentError: Error, Hashable, Sendable {
    /// It is no document at all.
    case malformed(XMLFault)
    /// The outermost element, or the one in `content`, is another than the one that belongs there.
    case unexpectedElement(String, expected: String, XMLPosition)
    /// A registration of a type that the protocol does not have.
    case unknownRegistrationType(String, XMLPosition)
    /// An element is missing or empty.
    case missing(String, in: String, XMLPosition)
    /// The text of an element breaks its rule.
    case invalid(String, rule: String, XMLPosition)
}

extension HubDocumentError {
    /// Whether there was nothing but comments and blanks.
    public var isEmpty: Bool {
        if case .malformed(let fault) = self, fault.problem == .empty { return true }
        return false
    }

    /// Whether the document was too large rather than wrong: 413 instead of 400.
    public var isTooLarge: Bool {
        if case .malformed(let fault) = self, case .tooLong = fault.problem { return true }
        return false
    }
}

extension HubDocumentError: CustomStringConvertible {
    /// A sentence for the caller, to be used as the detail of the error body (Reference/AzureNotificationHubs.md#6-2).
    public var description: String {
        switch self {
        case .malformed(let fault): "The XML cannot be read: \(fault)."
        case .unexpectedElement(let name, let expected, let position):
            "The element \(name.shortened) stands at \(position) where \(expected) is expected."
        case .unknownRegistrationType(let name, let position):
            "The registration type \(name.shortened) at \(position) is unknown."
        case .missing(let name, let parent, let position): "\(parent) at \(position) has no \(name)."
        case .invalid(let name, let rule, let position): "\(name) at \(position) is not valid: \(rule)."
        }
    }
}

extension XMLReader {
    /// Reads a document for a reader of this module.
    static func root(_ bytes: [UInt8], limits: XMLLimits) throws(HubDocumentError) -> XMLElement {
        do { return try document(bytes, limits: limits) } catch { throw .malformed(error) }
    }

    /// The same, where the outermost element has a name.
    static func root(
        _ name: String, in namespace: String = Namespace.serviceBus, _ bytes: [UInt8], limits: XMLLimits
    ) throws(HubDocumentError) -> XMLElement {
        let root = try root(bytes, limits: limits)
        guard root.isNamed(name, in: namespace) else { throw .unexpectedElement(root.name, expected: name, root.position) }
        return root
    }
}

extension XMLElement {
    /// The text of a child that must be there and must not be empty.
    func required(_ name: String, in namespace: String = Namespace.serviceBus) throws(HubDocumentError) -> String {
        guard let value = value(name, in: namespace) else { throw .missing(name, in: self.name, position) }
        return value
    }

    /// The whole number in a child, `nil` when there is no child.
    func integer(_ name: String) throws(HubDocumentError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text) else {
            throw .invalid(name, rule: "it is a whole number", child(name)?.position ?? position)
        }
        return number
    }

    /// The moment in a child, `nil` when there is no child.
    func moment(_ name: String, in namespace: String = Namespace.serviceBus) throws(HubDocumentError) -> Timestamp? {
        guard let text = value(name, in: namespace) else { return nil }
        guard let moment = DateText.read(text) else {
            throw .invalid(name, rule: "it is a date and time", child(name, in: namespace)?.position ?? position)
        }
        return moment
    }
}
