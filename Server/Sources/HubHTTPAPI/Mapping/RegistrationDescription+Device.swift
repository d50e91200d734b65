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
        static let baiduChannelID = "BaiduChannelId"
    }

    /// The request to store the description under an id. Throws `invalid-field` that names the element.
    func upsert(id: RecordID, precondition: DevicePrecondition) throws -> DeviceUpsert {
        guard let handle = DeviceHandle(handle, platform: platform.platform) else {
            throw ServiceError(.invalidField, "\(platform.handleElement) is not a handle of this platform")
        }
        for name in platform.requiredDetails where details[name, default: ""].isEmpty {
            throw ServiceError(.invalidField, "\(name) is missing")
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
        var (handle, details) = (record.handle?.text ?? "", record.details.filter { platform.detailElements.contains($0.key) })
        if platform == .baidu, details[Detail.baiduChannelID] == nil, let channel = BaiduChannel(handle) {
            handle = channel.userID
            details[Detail.baiduChannelID] = channel.channelID
        }
        // A record that was stored without one would make the JavaScript client throw at the whole list.
        for name in platform.requiredDetails where details[name] == nil { details[name] = "" }
        self.init(
            platform, handle: handle, details: details,
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

extension RegistrationPlatform {
    /// The details without which the JavaScript client cannot read a registration (Reference/AzureNotificationHubs.md#2-1).
    fileprivate var requiredDetails: [String] {
        switch self {
        case .baidu, .browser: detailElements
        default: []
        }
    }
}

/// The push channel of a Baidu installation. Clients join the user id and the channel id with a hyphen; the official .NET and Java
/// libraries do so in their class `BaiduInstallation`.
struct BaiduChannel {
    let userID: String
    let channelID: String

    /// Splits at the first hyphen; `nil` when a part is missing.
    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        userID = String(parts[0])
        channelID = String(parts[1])
    }
}
