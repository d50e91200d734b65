import RichPushModel
import WireText

/// A rule under which clients sign: a name, rights and two keys (Reference/AzureNotificationHubs.md#1-1 and #2-13).
public struct HubAccessRule: Hashable, Sendable {
    /// What a key allows.
    public enum Right: String, Sendable, CaseIterable {
        case listen = "Listen"
        case manage = "Manage"
        case send = "Send"
    }

    public var name: String
    public var rights: [Right]
    /// Absent where the rule asks the hub for a new key.
    public var primaryKey: String?
    public var secondaryKey: String?
    public var createdAt: Timestamp?
    public var modifiedAt: Timestamp?

    /// Creates a rule.
    public init(
        name: String, rights: [Right], primaryKey: String?, secondaryKey: String?, createdAt: Timestamp? = nil,
        modifiedAt: Timestamp? = nil
    ) {
        self.name = name
        self.rights = rights
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
    }
}

extension HubAccessRule: CustomStringConvertible {
    /// Without the keys.
    public var description: String { "\(name)(\(rights.map(\.rawValue).joined(separator: ", ")))" }
}

extension HubAccessRule: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension HubAccessRule {
    init(_ element: XMLElement) throws(HubDocumentError) {
        var rights: [Right] = []
        for word in element.child("Rights")?.children("AccessRights") ?? [] {
            guard let right = Right(rawValue: word.trimmed) else {
                throw .invalid("AccessRights", rule: "it is Listen, Send or Manage", word.position)
            }
            if !rights.contains(right) { rights.append(right) }
        }
        func key(_ name: String) -> String? { element.value(name).flatMap { $0 == "null" ? nil : $0 } }
        self.init(
            name: try element.required("KeyName"), rights: rights, primaryKey: key("PrimaryKey"),
            secondaryKey: key("SecondaryKey"),
            // The hub keeps its own times.
            createdAt: element.value("CreatedTime").flatMap(DateText.read),
            modifiedAt: element.value("ModifiedTime").flatMap(DateText.read))
    }

    func write(to writer: inout XMLWriter) {
        writer.open("AuthorizationRule", ["i:type": "SharedAccessAuthorizationRule"])
        writer.element("ClaimType", "SharedAccessKey")
        writer.element("ClaimValue", "None")
        writer.open("Rights")
        for right in rights { writer.element("AccessRights", right.rawValue) }
        writer.close("Rights")
        writer.element("CreatedTime", createdAt.map(DateText.shortest))
        writer.element("ModifiedTime", modifiedAt.map(DateText.shortest))
        writer.element("KeyName", name)
        writer.element("PrimaryKey", primaryKey)
        writer.element("SecondaryKey", secondaryKey)
        writer.close("AuthorizationRule")
    }
}
