import RichPushModel
import WireText

extension RegistrationDescription {
    /// Reads the entry of a request or an answer, in every form that clients send (Reference/AzureNotificationHubs.md#2-1):
    /// elements in any order and with any prefix, the element named after the type or a `RegistrationDescription` with `i:type`,
    /// values null or empty.
    public static func read(
        entry bytes: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> RegistrationDescription {
        try RegistrationDescription(try AtomContent.entry(bytes, limits: limits).element)
    }

    /// Reads the feed of a list.
    public static func read(
        feed bytes: [UInt8], limits: XMLLimits = .feed
    ) throws(HubDocumentError) -> [RegistrationDescription] {
        var descriptions: [RegistrationDescription] = []
        for content in try AtomContent.feed(bytes, limits: limits) {
            descriptions.append(try RegistrationDescription(content.element))
        }
        return descriptions
    }

    /// Reads a description from its element.
    init(_ element: XMLElement) throws(HubDocumentError) {
        let typeName = element.name == "RegistrationDescription" ? element.instanceType ?? element.name : element.name
        guard element.isNamed(element.name, in: Namespace.serviceBus), let type = RegistrationPlatform.read(typeName) else {
            throw .unknownRegistrationType(typeName, element.position)
        }
        self.init(type.platform, handle: "")
        handle = try element.required(type.platform.handleElement)
        for name in type.platform.detailElements { details[name] = element.value(name) }
        if type.isTemplate { template = try RegistrationTemplate(element, type.platform) }
        registrationID = element.value("RegistrationId")
        etag = element.value("ETag")
        expirationTime = try DateText.expiry("ExpirationTime", in: element)
        tags = element.value("Tags").map(Tag.texts) ?? []
        pushVariables = element.value("PushVariables")
    }
}
