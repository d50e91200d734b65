/// The body of `PUT /api/v1/installations/{id}`: all that the server should know of one app on one device.
public struct InstallationUpdate: Hashable, Sendable, Codable {
    /// The push service: `apns`, `fcmv1` for Android, or `browser` for Web Push.
    public var platform: String
    /// The device token as hexadecimal text; absent until the system has given one. Of a browser `endpoint`, `p256dh` and `auth` of its
    /// subscription, with a blank between them.
    public var handle: String?
    /// Tags the user chose; the server adds `username:` itself and refuses protected ones.
    public var tags: [Tag]
    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String?
    /// The bundle id, which is the APNs topic. Of a browser the address of the page that opens notifications.
    public var topic: String?
    /// A BCP 47 language tag, for example `sv-SE`.
    public var locale: String?
    /// The most entries of `languages`.
    public static let languageLimit = 8

    /// The languages of the user, the best first: language tags, at most 8. A send with translations reaches the device in the first
    /// that fits. Absent means `locale` alone.
    public var languages: [String]?
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
    /// What the app can do, for example `service-extension`: at most 16 names of 1 to 32 of `a-z 0-9 -`.
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
    /// The narrow credential of this installation, present only when the request came with a password or a sign-in token. Send it as
    /// `Authorization: Bearer` from then on; it is never shown again.
    public var credential: String?
    /// When the credential ends unless it is used before.
    public var credentialExpiresAt: Timestamp?
    /// The name of the signed-in user as stored.
    public var user: String
    /// The environments of APNs, `sandbox` and `production`, that the server's credential is for; absent when it cannot say,
    /// and for a device that is not Apple's. A device token of another is refused by APNs.
    public var environments: [String]?

    /// Creates an answer.
    public init(credential: String?, credentialExpiresAt: Timestamp?, user: String, environments: [String]? = nil) {
        self.credential = credential
        self.credentialExpiresAt = credentialExpiresAt
        self.user = user
        self.environments = environments
    }
}

/// The stable random name of one app on one device: 1 to 128 of `A-Z a-z 0-9 _ -`.
public struct InstallationID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The id as it was given; it compares with regard to case.
    public let text: String

    /// Creates an id; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = InstallationID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "an installation id has 1 to 128 of A-Z a-z 0-9 _ -")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The push services a device can belong to, by the names of the hub protocol. Open for more.
public struct Platform: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String

    /// Creates a platform name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Apple's push service.
    public static let apns = Platform(rawValue: "apns")
}

/// The answer to `GET /api/v1/installations`: a user's devices as the server knows them.
public struct DeviceList: Hashable, Sendable, Codable {
    /// The devices that are signed in, newest first.
    public var devices: [DeviceEntry]
    /// Devices that another user took over by registering the same device token, newest first, at most 20; absent when there are none.
    /// They include a phone that changed owners and a phone whose token an attacker knew and registered.
    public var takenOver: [TakenDevice]?

    /// Creates a list.
    public init(devices: [DeviceEntry], takenOver: [TakenDevice]? = nil) {
        self.devices = devices
        self.takenOver = takenOver
    }
}

/// A device that was this user's until another user registered its device token.
public struct TakenDevice: Hashable, Sendable, Codable {
    /// The id that the device had for this user.
    public var id: String
    /// When it was taken over.
    public var takenAt: Timestamp

    /// Creates an entry.
    public init(id: String, takenAt: Timestamp) {
        self.id = id
        self.takenAt = takenAt
    }
}

/// One app on one device, as it last reported itself. What it did not report is absent.
public struct DeviceEntry: Hashable, Sendable, Codable {
    /// The id of the installation, or of the registration of a phone of the rich push tutorial.
    public var id: String
    /// `installation` or `registration`.
    public var kind: String
    public var user: String
    public var platform: String
    /// The first six characters of the device token, enough to distinguish two devices. Of a browser the host of its push service.
    public var handle: String?
    public var environment: String?
    public var topic: String?
    public var tags: [String]
    /// Since when the device is this user's with these tags and this token.
    public var since: Timestamp
    /// As in `InstallationUpdate`.
    public var locale: String?
    public var languages: [String]?
    public var appVersion: String?
    public var systemVersion: String?
    public var timeZone: String?
    public var permission: String?
    public var capabilities: [String]?

    /// Creates an entry; what is not named here is absent until it is set.
    public init(id: String, kind: String, user: String, platform: String, tags: [String], since: Timestamp) {
        self.id = id
        self.kind = kind
        self.user = user
        self.platform = platform
        self.tags = tags
        self.since = since
    }
}
