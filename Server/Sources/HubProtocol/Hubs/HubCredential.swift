import WireText

/// What a hub shows to a push service, as names and values (Reference/AzureNotificationHubs.md#2-13).
public struct HubCredential: Hashable, Sendable {
    /// Whose credential it is, by the name of its element.
    public enum Service: String, Sendable, CaseIterable {
        case apns = "ApnsCredential"
        case wns = "WnsCredential"
        case gcm = "GcmCredential"
        case mpns = "MpnsCredential"
        case adm = "AdmCredential"
        case baidu = "BaiduCredential"
        case fcmV1 = "FcmV1Credential"
        case browser = "BrowserCredential"
    }

    /// One name with its value.
    public struct Property: Hashable, Sendable {
        public var name: String
        public var value: String

        /// Creates a property.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public var service: Service
    public var properties: [Property]

    /// Creates a credential.
    public init(_ service: Service, _ properties: [Property]) {
        self.service = service
        self.properties = properties
    }

    /// The value of a property.
    public func value(_ name: String) -> String? { properties.first { $0.name == name }?.value }
}

extension HubCredential: CustomStringConvertible {
    /// Names only: values are secrets.
    public var description: String { "\(service.rawValue)(\(properties.map(\.name).joined(separator: ", ")))" }
}

extension HubCredential: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["service": service.rawValue]) }
}

extension HubCredential {
    /// Reads a credential. Java writes unset values as the text `null` (Reference/AzureNotificationHubs.md#2-13): those are
    /// absent.
    init(_ service: Service, _ element: XMLElement) throws(HubDocumentError) {
        self.init(service, [])
        for property in element.child("Properties")?.children("Property") ?? [] {
            let name = try property.required("Name")
            guard let value = property.value("Value"), value != "null" else { continue }
            properties.append(Property(name: name, value: value))
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.open(service.rawValue)
        writer.open("Properties")
        for property in properties {
            writer.open("Property")
            writer.element("Name", property.name)
            writer.element("Value", property.value)
            writer.close("Property")
        }
        writer.close("Properties")
        writer.close(service.rawValue)
    }
}
