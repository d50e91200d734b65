import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

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
        for name in platform.requiredDetails where details[name, default: ""].isEmpty {
            throw ServiceError(.invalidField, "\(name) is missing")
        }
        guard let handle = DeviceToken(try token(), platform: platform.platform) else {
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

    /// What the hub keeps as the device token.
    private func token() throws -> String {
        guard platform == .browser else { return handle }
        let channel = BrowserChannel(
            endpoint: handle, p256dh: details["P256DH", default: ""], auth: details["Auth", default: ""], isObject: false)
        guard channel.token.utf8.count(where: { $0 == UInt8(ascii: " ") }) == 2 else {
            throw ServiceError(.invalidField, "Endpoint, P256DH and Auth have no blanks")
        }
        return channel.token
    }

    /// The description of a stored record: of the type that was registered.
    init(_ record: DeviceRecord, omitsOddAddresses: Bool = false) {
        let type =
            record.details[Detail.type].flatMap(RegistrationPlatform.init(rawValue:)) ?? RegistrationPlatform(record.platform)
        let platform = type ?? .apple
        var (handle, details) = (record.handle?.text ?? "", record.details.filter { platform.detailElements.contains($0.key) })
        if platform == .browser { handle = BrowserChannel.endpoint(in: handle) }
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
            headers: template.headers.map { HeaderField($0.name, $0.value) }, expiry: template.expiry,
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

/// Tags between the wire, where they are texts, and the hub.
enum WireTags {
    /// Reads the tags of a client; the hub counts them. Throws `invalid-field` with the place. Answers contain the two special forms, so
    /// a client that stores what it read sends them back. They are ignored, because only the server assigns them.
    static func read(_ texts: [String]) throws(ServiceError) -> [Tag] { try parsed(texts).tags }

    /// The same with the two special forms apart.
    static func parsed(_ texts: [String]) throws(ServiceError) -> RegistrationTags {
        do throws(RegistrationTagsError) {
            return try RegistrationTags(texts, limit: .max)
        } catch {
            throw ServiceError(.invalidField, error.description)
        }
    }

    /// What a client sees: the record's own tags as given, and those that address it.
    ///
    /// - Parameter omitsOddAddresses: leaves out what a client would take for a mistake, with which it drops every tag of the
    ///   list (Reference/AzureNotificationHubs.md#0-3).
    static func all(of record: DeviceRecord, omitsOddAddresses: Bool = false) -> [String] {
        // A registration is addressed by its tags alone.
        guard record.kind == .installation else { return record.tags.map(\.text) }
        let addresses = record.matchingTags.subtracting(record.tags).filter { !omitsOddAddresses || $0.hasPlainAddress }
        return record.tags.map(\.text) + addresses.map(\.text).sorted()
    }
}

/// The push variables of a registration: an object of texts, written as text into an element
/// (Reference/AzureNotificationHubs.md#2-1).
enum PushVariables {
    /// Reads the element. Throws `invalid-field`.
    static func read(_ text: String?) throws -> [String: String] {
        guard let text else { return [:] }
        guard let json = try? WireJSON(parsing: text.utf8), case .object(let members) = json else {
            throw ServiceError(.invalidField, "PushVariables is not the text of a JSON object")
        }
        return members.reduce(into: [:]) { values, member in
            if case .string(let value) = member.value {
                values[member.name] = value
            } else {
                values[member.name] = member.value.text
            }
        }
    }

    /// The element's text, in the order of the names; `nil` when there are none.
    static func text(_ values: [String: String]) -> String? {
        guard !values.isEmpty else { return nil }
        return WireJSON.object(values.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).text
    }
}

/// Names for registrations that have none yet.
enum RegistrationName {
    /// Two random numbers of 63 bits and a 1: the shape that clients have seen (Reference/AzureNotificationHubs.md#2-1).
    static func random() -> String { "\(number())-\(number())-1" }

    /// The same as an id of the hub.
    static func randomID() -> RecordID {
        guard let id = RecordID(random()) else { preconditionFailure("digits and hyphens are an id") }
        return id
    }

    private static func number() -> Int64 { Int64.random(in: 0...(.max)) }
}
