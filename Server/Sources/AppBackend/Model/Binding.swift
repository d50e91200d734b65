import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// That a device belonged to a user with certain tags, from one moment until another. Access to content is decided by
/// these alone, whatever a hub says.
public struct Binding: Hashable, Sendable {
    /// Counts up; a change of the device makes a new binding.
    public var number: Int64
    public var user: UserID
    public var device: BoundDevice
    public var from: Timestamp
    /// Where in the order of sends it began.
    public var order: OrderNumber
    /// Absent while it holds.
    public var until: Timestamp?
    /// Where in the order of sends it ended; absent while it holds.
    public var endOrder: OrderNumber?

    /// Creates a binding.
    public init(
        number: Int64, user: UserID, device: BoundDevice, from: Timestamp, order: OrderNumber, until: Timestamp? = nil,
        endOrder: OrderNumber? = nil
    ) {
        self.number = number
        self.user = user
        self.device = device
        self.from = from
        self.order = order
        self.until = until
        self.endOrder = endOrder
    }

    /// Whether it held at any time of a send's life, by the order of what was committed: no clock has a part in it. A send that has
    /// not completed has no end yet. Only where a hub elsewhere ended the send, moments say whether a binding that is younger than
    /// the send began in time.
    public func held(during notification: RichNotification) -> Bool {
        if let endOrder, endOrder <= notification.order { return false }
        if order <= notification.order { return true }
        if let end = notification.endOrder { return order <= end }
        return notification.completedAt.map { from <= $0 } ?? true
    }
}

/// A device as its user registered it, with all that the hub needs.
public struct BoundDevice: Hashable, Sendable {
    public var record: RecordID
    public var kind: DeviceRecord.Kind
    public var platform: Platform
    public var handle: DeviceToken?
    public var environment: String?
    public var topic: String?
    /// With the user's own tag.
    public var tags: [Tag]
    /// The public key for which senders seal, base64; absent if it cannot open sealed content. It is not sent to the hub.
    public var sealingKey: String?
    /// What the device reported about itself. Changes need no new binding; removed when the binding ends.
    public var facts: DeviceFacts?

    /// Creates a device.
    public init(
        record: RecordID, kind: DeviceRecord.Kind, platform: Platform, handle: DeviceToken?, environment: String? = nil,
        topic: String? = nil, tags: [Tag], sealingKey: String? = nil, facts: DeviceFacts? = nil
    ) {
        self.record = record
        self.kind = kind
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.tags = tags
        self.sealingKey = sealingKey
        self.facts = facts
    }

    /// Whether both are registered in the same way; facts are ignored.
    public func isRegistered(as other: BoundDevice) -> Bool {
        var same = other
        same.facts = facts
        return self == same
    }

    /// What expressions see: the tags, and for an installation the one that addresses it.
    public var matchingTags: Set<Tag> {
        var all = Set(tags)
        if kind == .installation, let id = InstallationID(record.text) { all.insert(.installation(id)) }
        return all
    }

    /// The device when its user, who has the tags of `user` until now, has these instead. Its own tags stay; where there would be
    /// more than a device may have, the last of its own go.
    public func retagged(_ given: [Tag], of user: User) -> BoundDevice {
        let own = tags.filter { !user.tags.contains($0) && !given.contains($0) && !$0.namesUser }
        var device = self
        device.tags = Array(([.user(user.name)] + given + own).prefix(TagRules.maximumTags))
        return device
    }

    /// The request that makes the hub know this device. Other records of the handle go.
    var upsert: DeviceUpsert {
        DeviceUpsert(
            id: record, kind: kind, platform: platform, handle: handle, environment: environment, topic: topic, tags: tags,
            replacesSameHandle: handle != nil)
    }
}

/// What an installation reported about itself, for administrators. Of this the hub gets the time zone and the languages.
public struct DeviceFacts: Hashable, Sendable, Codable {
    public var locale: String?
    public var languages: [String]?
    public var appVersion: String?
    public var systemVersion: String?
    public var timeZone: String?
    /// One of `permissions`.
    public var permission: String?
    public var capabilities: [String]?

    private static let permissions: Set = ["granted", "provisional", "denied", "notDetermined"]
    private static let textLimit = 64
    private static let wordLimits = (count: 16, length: 32)

    /// Takes what an update says; `nil` when it says nothing. Throws `invalid-field`.
    public init?(_ update: InstallationUpdate) throws(ServiceError) {
        locale = try Self.checked(update.locale, "locale")
        languages = try update.languages.map { texts throws(ServiceError) in try Self.checked(languages: texts) }
        appVersion = try Self.checked(update.appVersion, "appVersion")
        systemVersion = try Self.checked(update.systemVersion, "systemVersion")
        timeZone = try Self.checked(update.timeZone, "timeZone")
        if let permission = update.permission, !Self.permissions.contains(permission) {
            throw ServiceError(.invalidField, "permission: it is one of \(Self.permissions.sorted().joined(separator: ", "))")
        }
        permission = update.permission
        if let words = update.capabilities { capabilities = try Self.checked(words) }
        let isSilent =
            [locale, appVersion, systemVersion, timeZone, permission].allSatisfy { $0 == nil }
            && capabilities == nil && languages == nil
        if isSilent { return nil }
    }

    /// A text as devices report it. Throws `invalid-field`.
    static func checked(_ text: String?, _ field: String) throws(ServiceError) -> String? {
        guard let text else { return nil }
        // `format` holds the marks that turn the direction of writing, by which a line shows what it does not say.
        let isPlain = text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
        guard (1...textLimit).contains(text.unicodeScalars.count), isPlain else {
            throw ServiceError(
                .invalidField, "\(field): it has 1 to \(textLimit) characters, none of them a control or a direction mark")
        }
        return text
    }

    private static func checked(languages texts: [String]) throws(ServiceError) -> [String] {
        guard texts.count <= InstallationUpdate.languageLimit else {
            throw ServiceError(.invalidField, "languages: at most \(InstallationUpdate.languageLimit) language tags")
        }
        for text in texts { _ = try checked(text, "languages") }
        return texts
    }

    /// In which languages the device gets sends with translations.
    var preference: LanguagePreference { LanguagePreference(languages ?? locale.map { [$0] } ?? []) }

    private static func checked(_ words: [String]) throws(ServiceError) -> [String] {
        let isWord = { (word: String) in
            (1...wordLimits.length).contains(word.utf8.count)
                && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        }
        guard words.count <= wordLimits.count, words.allSatisfy(isWord) else {
            throw ServiceError(
                .invalidField,
                "capabilities: at most \(wordLimits.count) words of 1 to \(wordLimits.length) of a-z 0-9 -")
        }
        return Array(Set(words)).sorted()
    }

    /// Reads what storage keeps; `nil` for what no version wrote.
    public init?(stored text: String) {
        guard let facts = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = facts
    }

    /// One line of JSON for storage, the same for the same facts.
    public var stored: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// How much is remembered of one user's devices. What would be more is refused, because forgetting could end an access that was
/// promised; otherwise one user could make every question for their inbox as dear as they like.
public enum BindingLimits {
    /// Devices with their changes, for as long as notifications are kept that may have gone to them.
    public static let bindings = 2000
    /// Different tags: those that the devices have or had within the margin, and those that a stored notification names.
    public static let tags = 1000
    /// How long a removed tag is kept, because a send that names it may not be stored yet.
    public static let margin: Duration = .seconds(3600)
    /// With more bindings than this within the margin no tag is forgotten, so that the look through them stays short.
    public static let bindingsWithinMargin = 200
    /// What is said when the devices of a user cannot be bound again with other tags.
    public static let refusesTags = ServiceError(
        .quotaExceeded,
        "tags: the devices of this user changed too often, or had too many different tags; wait until older ones are forgotten")
}

/// What became of a request to bind.
public enum BindingOutcome: Hashable, Sendable {
    /// It holds. `replaced` are other records of the handle that were closed; `taken` are the records that were another user's.
    case bound(Binding, replaced: [RecordID], taken: [RecordID])
    /// The record belongs to another user on another device.
    case heldByAnother
    /// The presented credential is not the record's any more, or the one to be issued is of an earlier password.
    case credentialReplaced
}

/// With which credential a device is bound.
public enum BindingCredential: Hashable, Sendable {
    /// A password, and no credential is asked for. `version` is the version of the user's credentials of which the password is.
    case password(version: Int64)
    /// A password, and this credential is stored in the same transaction: a sign-out under way must not come between the two.
    case issue(StoredInstallationCredential)
    /// A one-time sign-in token with this digest, and this credential is stored in the same transaction, which consumes the token.
    case exchange(StoredInstallationCredential, token: [UInt8])
    /// The credential with this digest.
    case presented([UInt8])
}

extension BindingCredential {
    /// The credential that is to be stored.
    public var issued: StoredInstallationCredential? {
        switch self {
        case .issue(let issued), .exchange(let issued, _): issued
        case .password, .presented: nil
        }
    }

    /// The version of the user's credentials that was verified; it must still be the current one.
    public var version: Int64? {
        switch self {
        case .password(let version): version
        case .issue(let issued), .exchange(let issued, _): issued.credentialVersion
        case .presented: nil
        }
    }
}

/// A binding that holds and the credential of its record, for a caller that changes just these.
public struct BindingState: Hashable, Sendable {
    /// The number of the binding; absent when none holds.
    public var binding: Int64?
    /// The digest of the credential; absent when there is none.
    public var credential: [UInt8]?

    /// Creates a state.
    public init(binding: Int64?, credential: [UInt8]?) {
        self.binding = binding
        self.credential = credential
    }
}

/// What a sign-out is for: whatever came later stays.
public enum UnbindingCondition: Hashable, Sendable {
    /// The record is as it was when the sign-out began.
    case unchanged(BindingState)
    /// The record's credential is the one with this digest; all that was bound with it ends.
    case credential([UInt8])
}

/// What became of a request to unbind.
public enum UnbindingOutcome: Hashable, Sendable {
    /// It is closed; also when it was this user who was bound last, so that a sign-out can be retried.
    case unbound
    /// The record was bound again, or got another credential, since it was seen. Nothing changed.
    case superseded
    /// It is not the user's.
    case foreign
}

/// A change of a device here and at the hub, in two steps. A process may die between them, and a late write of one node to the hub may
/// overwrite a newer one of another node. As long as the change is noted, the upkeep checks that the hub agrees with the binding.
public struct DeviceChange: Hashable, Sendable {
    /// The device's record.
    public var record: RecordID
    /// Which of several changes of the record it is.
    public var mark: Int64

    /// Creates a change; the mark is a number by chance unless one is given.
    public init(_ record: RecordID, mark: Int64 = DeviceChange.newMark()) {
        self.record = record
        self.mark = mark
    }

    /// A number by chance, for several changes that begin together.
    public static func newMark() -> Int64 { .random(in: 1 ... .max) }
}

extension Tag {
    /// Whether it stands for a user; senders address users by it.
    var namesUser: Bool { text.lowercased().hasPrefix("username:") }
}
