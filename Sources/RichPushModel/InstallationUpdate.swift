/// The body of `PUT /api/v1/installations/{id}`: all that the server should know of one app on one device.
public struct InstallationUpdate: Hashable, Sendable, Codable {
    /// The push service; `apns` is the one this version sends through.
    public var platform: String
    /// The device token as hexadecimal text; absent until the system has given one.
    public var handle: String?
    /// Tags the user chose; the server adds `username:` itself and refuses protected ones.
    public var tags: [Tag]
    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String?
    /// The bundle id, which is the APNs topic.
    public var topic: String?
    /// A BCP 47 language tag, for example `sv-SE`.
    public var locale: String?
    /// The public key for which senders seal, base64 of 32 bytes; absent when this installation opens nothing sealed.
    public var sealingKey: String?
    /// The app's version, for example `2.1 (417)`; 1 to 64 characters, as each of the texts below.
    public var appVersion: String?
    /// The operating system with its version, for example `iOS 18.2`.
    public var systemVersion: String?
    /// The name of the time zone, for example `Europe/Stockholm`.
    public var timeZone: String?
    /// What the user answered to notifications: `granted`, `provisional`, `denied` or `notDetermined`.
    public var permission: String?
    /// What the app can do, for example `service-extension`: at most 16 words of 1 to 32 of `a-z 0-9 -`.
    public var capabilities: [String]?

    /// Creates an update.
    public init(
        platform: String = "apns", handle: String?, tags: [Tag] = [], environment: String? = nil, topic: String? = nil,
        locale: String? = nil, sealingKey: String? = nil, appVersion: String? = nil, systemVersion: String? = nil,
        timeZone: String? = nil, permission: String? = nil, capabilities: [String]? = nil
    ) {
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.environment = environment
        self.topic = topic
        self.locale = locale
        self.sealingKey = sealingKey
        self.appVersion = appVersion
        self.systemVersion = systemVersion
        self.timeZone = timeZone
        self.permission = permission
        self.capabilities = capabilities
    }
}

/// The answer to a `PUT` of an installation.
public struct InstallationAnswer: Hashable, Sendable, Codable {
    /// The narrow credential of this installation, present only when the request was signed with a password. Send it as
    /// `Authorization: Bearer` from then on; it is never shown again.
    public var credential: String?
    /// When the credential ends unless it is used before.
    public var credentialExpiresAt: Timestamp?
    /// The name of the signed-in user as stored.
    public var user: String
    /// The environments of APNs, `sandbox` and `production`, that the server's credential is for; absent when it cannot say. A
    /// device token of another is refused by APNs.
    public var environments: [String]?

    /// Creates an answer.
    public init(credential: String?, credentialExpiresAt: Timestamp?, user: String, environments: [String]? = nil) {
        self.credential = credential
        self.credentialExpiresAt = credentialExpiresAt
        self.user = user
        self.environments = environments
    }
}
