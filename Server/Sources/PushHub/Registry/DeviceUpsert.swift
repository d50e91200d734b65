import NotificationTemplates
import RichPushModel
import ServiceErrors
import WebPushProtocol

/// A request to create a record or to replace what a record says.
public struct DeviceUpsert: Hashable, Sendable {
    public var id: RecordID
    public var kind: DeviceRecord.Kind
    public var platform: Platform
    public var handle: DeviceToken?
    public var environment: String?
    public var topic: String?
    public var tags: [Tag]
    public var userID: String?
    public var expiresAt: Timestamp?
    /// Whether every other record with the same platform and handle goes in the same transaction (the rich push tutorial's
    /// `PUT`).
    public var replacesSameHandle: Bool
    /// What template sends fill in; absent for a native registration.
    public var template: DeviceTemplate?
    public var pushVariables: [String: String]
    /// Extras of the platform by their wire names.
    public var details: [String: String]
    /// Whether the hub's time to live counts when there is no expiry: so it does for what comes by the hub protocol.
    public var expiresByDefault: Bool
    /// What has to be so for the change to be made.
    public var precondition: DevicePrecondition
    /// The time zone that the device reports, by its name in the tz database; empty when it has none, and absent when it
    /// says nothing about it.
    public var timeZone: String?
    /// The languages that the device reports; absent when it says nothing about them.
    public var languages: LanguagePreference?
    /// The other tokens of an installation, all of them.
    public var tokens: [InstallationToken] = []

    public init(
        id: RecordID, kind: DeviceRecord.Kind, platform: Platform = .apns, handle: DeviceToken?, environment: String? = nil,
        topic: String? = nil, tags: [Tag] = [], userID: String? = nil, expiresAt: Timestamp? = nil,
        replacesSameHandle: Bool = false, template: DeviceTemplate? = nil, pushVariables: [String: String] = [:],
        details: [String: String] = [:], expiresByDefault: Bool = false, precondition: DevicePrecondition = .none
    ) {
        self.id = id
        self.kind = kind
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.tags = tags
        self.userID = userID
        self.expiresAt = expiresAt
        self.replacesSameHandle = replacesSameHandle
        self.template = template
        self.pushVariables = pushVariables
        self.details = details
        self.expiresByDefault = expiresByDefault
        self.precondition = precondition
    }
}

extension DeviceUpsert {
    /// Checks the request; throws `ServiceError` (`invalid-field`) for what a hub does not keep.
    ///
    /// - Parameter known: the handles that it keeps in any case, since the record has them.
    func checked(
        at now: Timestamp, limits: HubRequestLimits = HubRequestLimits(), known: Set<DeviceToken> = []
    ) throws -> DeviceUpsert {
        var request = self
        request.tags = try DeviceCheck.tags(tags, limits)
        if kind == .installation { try DeviceCheck.installationID(id) } else { try DeviceCheck.id(id) }
        try request.checkHandle(limits, known)
        try DeviceCheck.platform(platform)
        try DeviceCheck.words(environment: environment, topic: topic, userID: userID, platform)
        try DeviceCheck.extras(pushVariables: pushVariables, details: details)
        if let template {
            guard kind == .registration else {
                throw ServiceError(.invalidField, "a template of an installation is put with the installation")
            }
            try DeviceCheck.template(template, platform)
        }
        try DeviceCheck.expiry(expiresAt, at: now)
        try DeviceCheck.timeZone(timeZone)
        try checkTokens(limits)
        return request
    }

    private func checkTokens(_ limits: HubRequestLimits) throws {
        guard tokens.count <= InstallationToken.limit, kind == .installation || tokens.isEmpty else {
            throw ServiceError(.invalidField, "an installation has at most \(InstallationToken.limit) other tokens")
        }
        guard Set(tokens.map(\.kind.stored)).count == tokens.count else {
            throw ServiceError(.invalidField, "an installation has two tokens of one name")
        }
        for token in tokens {
            try token.kind.check()
            try DeviceCheck.handle(token.handle, token.kind.platform, limits)
        }
    }

    /// The records of the other tokens. They have the environment, the topic, the tags and the user of the installation.
    public func tokenRecords(over installation: DeviceRecord) -> [DeviceRecord] {
        tokens.map { token in
            var record = installation
            record.id = .derived(from: id, token: token.kind.stored)
            record.sliceKey = SliceKey(of: record.id)
            record.parent = id
            (record.platform, record.handle) = (token.kind.platform, token.handle)
            record.tags = token.kind.tags(beside: tags)
            record.registeredAt = token.reportedAt
            record.expiresAt = token.expiresAt ?? record.expiresAt
            (record.pushVariables, record.details, record.zone) = ([:], [:], .unknown)
            return record
        }
    }

    private func checkHandle(_ limits: HubRequestLimits, _ known: Set<DeviceToken>) throws {
        guard let handle else {
            if kind == .registration { throw ServiceError(.invalidField, "a registration needs a handle") }
            return
        }
        try DeviceCheck.handle(handle, platform, limits, known)
    }
}

/// What registrations and installations have in common to be checked. Everything throws `ServiceError` (`invalid-field`).
enum DeviceCheck {
    /// The tags without duplicates: the first spelling of each stays.
    static func tags(_ tags: [Tag], _ limits: HubRequestLimits) throws -> [Tag] {
        var seen: Set<Tag> = []
        let unique = tags.filter { seen.insert($0).inserted }
        guard unique.count <= limits.tags else {
            throw ServiceError(.invalidField, "a device has at most \(limits.tags) tags")
        }
        // The server adds these two itself; a client that could set them could receive for others.
        guard !unique.contains(where: { $0.text.hasPrefix("$") }) else {
            throw ServiceError(.invalidField, "a device cannot be given a tag that begins with $")
        }
        return unique
    }

    /// Beside the name of a zone, what the caller adds behind `=` to tell clocks of one zone apart.
    static func timeZone(_ name: String?) throws {
        guard let name else { return }
        guard name.utf8.count <= 64, name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "+-_/=:".utf8.contains($0) })
        else {
            throw ServiceError(.invalidField, "a time zone is a name of the tz database, such as Europe/Berlin")
        }
    }

    static func id(_ id: RecordID) throws {
        if id.isDerived {
            throw ServiceError(.conflict, "this record belongs to an installation; change the installation instead")
        }
    }

    static func installationID(_ id: RecordID) throws {
        try self.id(id)
        guard Tag.addressedInstallation(id.text) != nil else {
            throw ServiceError(.invalidField, "the id of an installation has no }")
        }
    }

    static func handle(
        _ handle: DeviceToken, _ platform: Platform, _ limits: HubRequestLimits, _ known: Set<DeviceToken> = []
    ) throws {
        guard DeviceToken(handle.text, platform: platform) == handle else {
            throw ServiceError(.invalidField, "the handle is not one of platform \(platform.rawValue.prefix(16))")
        }
        guard platform == .browser, !known.contains(handle) else { return }
        do throws(WebPushSubscriptionFault) { _ = try limits.browsers.subscription(in: handle.text) } catch {
            throw ServiceError(.invalidField, "the subscription of a browser is of no use: \(error)")
        }
    }

    static func platform(_ platform: Platform) throws {
        guard (1...16).contains(platform.rawValue.utf8.count), HeaderText.isSafe(platform.rawValue),
            platform.rawValue != SendFormat.template.text
        else { throw ServiceError(.invalidField, "the platform is not a known word") }
    }

    static func words(environment: String?, topic: String?, userID: String?, _ platform: Platform) throws {
        if let environment, environment != "sandbox", environment != "production" {
            throw ServiceError(.invalidField, "the environment of a device is sandbox or production")
        }
        if let topic, platform.isAPNs { try HeaderText.checkTopic(topic) }
        guard (topic?.utf8.count ?? 0) <= 512, topic.map(HeaderText.isSafe) ?? true else {
            throw ServiceError(.invalidField, "the topic of a device has at most 512 visible ASCII characters")
        }
        // A user id that no tag expression can name could never be addressed.
        if let userID, userID.utf8.count > 256 || Tag.addressedUser(userID) == nil {
            throw ServiceError(.invalidField, "a user id has 1 to 256 bytes, none of them } or a control character")
        }
    }

    static func expiry(_ expiresAt: Timestamp?, at now: Timestamp) throws {
        if let expiresAt, expiresAt <= now {
            throw ServiceError(.invalidField, "the expiration time of a device lies in the past")
        }
    }

    /// Nothing reads these but the client that wrote them, so only their size matters.
    static func extras(pushVariables: [String: String], details: [String: String]) throws {
        for (values, name) in [(pushVariables, "push variables"), (details, "platform details")] {
            let bytes = values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            guard values.count <= maximumExtras, bytes <= maximumExtraBytes else {
                throw ServiceError(
                    .invalidField,
                    "the \(name) of a device are at most \(maximumExtras) and have at most \(maximumExtraBytes) bytes together")
            }
        }
    }

    private static let maximumExtras = 64
    private static let maximumExtraBytes = 8_192

    /// Also throws for a template that the language refuses, and says where.
    static func template(_ template: DeviceTemplate, _ platform: Platform) throws {
        if let name = template.name { try templateName(name) }
        do throws(TemplateError) {
            _ = try CompiledTemplate(template, platform: platform)
        } catch {
            throw ServiceError(.invalidField, error.description)
        }
    }

    static func templateName(_ name: String) throws {
        guard !name.isEmpty, name.count <= DeviceTemplate.maximumName, name.utf8.count <= 4 * DeviceTemplate.maximumName else {
            throw ServiceError(.invalidField, "the name of a template has 1 to \(DeviceTemplate.maximumName) characters")
        }
    }
}

/// How much one request to a hub may ask for. The defaults are those of Azure's service
/// (Reference/AzureNotificationHubs.md#6-1).
public struct HubRequestLimits: Hashable, Sendable {
    /// Bytes of the body of a send; for a push service with a smaller bound that is an outcome, not an error.
    public var bodyBytes = 65_536
    /// Handles of a direct send.
    public var handles = 1_000
    /// Tags that a client may give a record, those of an installation's template included.
    public var tags = 60
    /// Devices that a test send goes to.
    public var testTargets = 10
    /// Which browsers may register. Nothing is sent to others.
    public var browsers = WebPushRule()

    public init() {}
}
