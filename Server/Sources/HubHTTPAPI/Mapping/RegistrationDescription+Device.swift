import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors

extension RegistrationDescription {
    /// Keys of `DeviceRecord.details` for what only the protocol's XML has.
    enum Detail {
        /// The type as it was registered, where two types are one platform.
        static let type = "RegistrationType"
        static let messageType = "MessageType"
    }

    /// The request to store the description under an id. Throws `invalid-field` that names the element.
    func upsert(id: RecordID, precondition: DevicePrecondition) throws -> DeviceUpsert {
        guard let handle = DeviceHandle(handle, platform: platform.platform) else {
            throw ServiceError(.invalidField, "\(platform.handleElement) is not a handle of this platform")
        }
        var details = details
        if RegistrationPlatform(platform.platform) != platform { details[Detail.type] = platform.rawValue }
        if let messageType = template?.messageType { details[Detail.messageType] = messageType }
        return DeviceUpsert(
            id: id, kind: .registration, platform: platform.platform, handle: handle, tags: try WireTags.read(tags),
            template: template?.device, pushVariables: try PushVariables.read(pushVariables), details: details,
            expiresByDefault: true, precondition: precondition)
    }

    /// The description of a stored record: of the type that was registered.
    init(_ record: DeviceRecord, omitsOddAddresses: Bool = false) {
        let type =
            record.details[Detail.type].flatMap(RegistrationPlatform.init(rawValue:)) ?? RegistrationPlatform(record.platform)
        let platform = type ?? .apple
        self.init(
            platform, handle: record.handle?.text ?? "",
            details: record.details.filter { platform.detailElements.contains($0.key) },
            template: record.template.map { RegistrationTemplate($0, messageType: record.details[Detail.messageType]) },
            registrationID: record.id.text, etag: String(record.version), expirationTime: record.expiresAt,
            tags: WireTags.all(of: record, omitsOddAddresses: omitsOddAddresses),
            pushVariables: PushVariables.text(record.pushVariables))
    }
}

extension RegistrationTemplate {
    fileprivate var device: DeviceTemplate {
        DeviceTemplate(
            name: name, body: body, headers: headers.map { .init(name: $0.name, value: $0.value) }, expiry: expiry,
            priority: priority)
    }

    fileprivate init(_ template: DeviceTemplate, messageType: String?) {
        self.init(
            body: template.body, name: template.name,
            headers: template.headers.map { Header(name: $0.name, value: $0.value) }, expiry: template.expiry,
            priority: template.priority, messageType: messageType)
    }
}

extension RegistrationEntry {
    /// The entry of a stored record, for the client of a call.
    init(_ record: DeviceRecord, for call: HubCall) {
        self.init(
            RegistrationDescription(record, omitsOddAddresses: call.omitsOddAddresses), published: record.createdAt,
            updated: record.registeredAt)
    }
}
