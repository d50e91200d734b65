import RichPushModel
import WireText

/// One target of a hub: a device's native one or one of its templates.
///
/// A registration is one record. An installation is its native record and one more for each of its templates and tiles, which
/// name it as their `parent` and come, move and go with it.
public struct DeviceRecord: Hashable, Sendable {
    /// Which of the two protocol forms created the record.
    public enum Kind: String, Sendable { case registration, installation }

    public var id: RecordID
    public var kind: Kind
    public var platform: Platform
    /// Absent for an installation whose system has not given a token yet; such a record is in no audience.
    public var handle: DeviceToken?
    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String?
    /// The APNs topic; absent means the hub's default.
    public var topic: String?
    /// At most 60 (Reference/AzureNotificationHubs.md#3-1).
    /// Those of a record with a parent include the parent's and the template's name, and may be more.
    public var tags: [Tag]
    /// The user as a client of the hub protocol named it. It grants nothing.
    public var userID: String?
    public var createdAt: Timestamp
    /// Where in the order of sends the record was made; the store gives it. A change of the record keeps it.
    public var order = OrderNumber(0)
    /// The last time the handle was confirmed; a 410 older than this is ignored (Reference/APNs.md#4).
    public var registeredAt: Timestamp
    /// After which the record is in no audience and may be removed; absent means never.
    public var expiresAt: Timestamp?
    /// Set when APNs called the handle bad: the record is in no audience until it registers again.
    public var inactiveAt: Timestamp?
    /// Counts the changes, from 1; the entity tag of the hub protocol.
    public var version: Int64
    public var sliceKey: SliceKey
    /// What template sends fill in; absent for a native target, which native sends mean.
    public var template: DeviceTemplate?
    /// The installation that the record was derived from.
    public var parent: RecordID?
    /// As the client gave them; nothing here reads them.
    public var pushVariables: [String: String]
    /// Extras of the platform by their wire names, for example `P256DH` or `SecondaryTileName`.
    public var details: [String: String]
    /// For sends by local time. Clients of the hub protocol do not set it.
    public var zone = DeviceZone.unknown
    /// For sends with translations. Clients of the hub protocol do not set it.
    public var languages = LanguagePreference([])

    public init(
        id: RecordID, kind: Kind, platform: Platform = .apns, handle: DeviceToken?, environment: String? = nil,
        topic: String? = nil, tags: [Tag] = [], userID: String? = nil, createdAt: Timestamp, registeredAt: Timestamp,
        expiresAt: Timestamp? = nil, inactiveAt: Timestamp? = nil, version: Int64 = 1, sliceKey: SliceKey? = nil,
        template: DeviceTemplate? = nil, parent: RecordID? = nil, pushVariables: [String: String] = [:],
        details: [String: String] = [:]
    ) {
        self.id = id
        self.kind = kind
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.tags = tags
        self.userID = userID
        self.createdAt = createdAt
        self.registeredAt = registeredAt
        self.expiresAt = expiresAt
        self.inactiveAt = inactiveAt
        self.version = version
        self.sliceKey = sliceKey ?? SliceKey(of: id)
        self.template = template
        self.parent = parent
        self.pushVariables = pushVariables
        self.details = details
    }
}

extension DeviceRecord {
    /// How many bytes of text it has, but for what is short in every record.
    public var textBytes: Int {
        let own = (handle?.text.utf8.count ?? 0) + (userID?.utf8.count ?? 0) + tags.reduce(0) { $0 + $1.text.utf8.count + 1 }
        let pairs = [pushVariables, details].joined().reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        return own + pairs + (template?.textBytes ?? 0)
    }
}

extension DeviceRecord {
    /// The installation that the record is, or belongs to.
    public var installation: RecordID? { kind == .installation ? parent ?? id : nil }

    /// The tile of the installation that the record belongs to.
    public var tile: String? { parent == nil ? nil : details[Self.tileDetail] }

    /// The name under which the details hold the tile, as on the wire.
    public static let tileDetail = "SecondaryTileName"

    /// Whether a send of that format means the record.
    public func isTarget(of format: SendFormat) -> Bool {
        switch format {
        case .native(let platform): template == nil && platform == self.platform
        case .template: template != nil
        }
    }

    /// The entries of the index under which sends find the record besides its tags.
    public var indexEntries: Set<String> { zone.indexEntries.union(platform.indexEntry.map { [$0] } ?? []) }

    /// What expressions see: the record's own tags and those that address it (Reference/AzureNotificationHubs.md#3-1).
    public var matchingTags: Set<Tag> {
        var all = Set(tags)
        if kind == .installation, let tag = Tag.addressedInstallation((parent ?? id).text) { all.insert(tag) }
        if kind == .installation, let userID, let tag = Tag.addressedUser(userID) { all.insert(tag) }
        return all
    }
}

/// What a push service calls a device. For APNs: upper-case hexadecimal, whole bytes, 1 to 200 of them.
///
/// It is opaque, may change, is never an identity, and is printed shortened only.
public struct DeviceToken: Hashable, Sendable {
    /// The canonical form.
    public let text: String

    /// Reads a token of the platform in any accepted spelling; `nil` when it is malformed.
    public init?(_ text: String, platform: Platform) {
        guard platform.isAPNs else {
            guard (1...Self.maximumLength).contains(text.utf8.count), !text.unicodeScalars.contains(where: Self.isControl) else {
                return nil
            }
            self.text = text
            return
        }
        let upper = text.uppercased()
        guard (2...400).contains(upper.utf8.count), upper.utf8.count % 2 == 0, upper.utf8.allSatisfy(\.isASCIIHexadecimalDigit)
        else {
            return nil
        }
        self.text = upper
    }

    /// Keeps a text that is no token, so that a direct send can count it. What no database and no document can hold is replaced;
    /// that makes no handle of it.
    public init(malformed text: String) {
        self.text = String(text.prefix(Self.maximumLength).map { $0.unicodeScalars.contains(where: Self.isControl) ? "?" : $0 })
    }

    /// Takes a handle from storage, where it is canonical already.
    public init(canonical text: String) { self.text = text }

    /// Bytes of a handle that is not Apple's; most are URLs.
    private static let maximumLength = 4096

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }
}

extension DeviceToken: CustomStringConvertible {
    /// The first six characters, which is all that a log may show.
    public var description: String { text.prefix(6) + "…" }
}

extension Platform {
    /// Firebase by its retired interface.
    public static let gcm = Platform(rawValue: "gcm")
    /// Firebase by its present interface.
    public static let fcmv1 = Platform(rawValue: "fcmv1")
    public static let wns = Platform(rawValue: "wns")
    public static let mpns = Platform(rawValue: "mpns")
    public static let adm = Platform(rawValue: "adm")
    public static let baidu = Platform(rawValue: "baidu")
    public static let browser = Platform(rawValue: "browser")
    public static let xiaomi = Platform(rawValue: "xiaomi")

    /// Every platform whose registrations a hub keeps (Reference/AzureNotificationHubs.md#5-1).
    public static let known: [Platform] = [.apns, .gcm, .fcmv1, .wns, .mpns, .adm, .baidu, .browser, .xiaomi]
}

extension Platform {
    /// The platform that stands for its push service: the kinds of Apple's tokens have one, and so have both names of Firebase.
    public var service: Platform { isAPNs ? .apns : self == .gcm ? .fcmv1 : self }

    /// Whether this version can push to it. What is sent to another is counted as skipped.
    public var hasTransport: Bool { HubCredential.platforms.contains(service) }

    /// The entry of the index that the records of a platform have. By it a send to every platform finds the few that are not Apple's.
    /// No tag of a client begins with `$`.
    public var indexEntry: String? { hasTransport && !isAPNs ? "$platform:{\(rawValue)}" : nil }
}
