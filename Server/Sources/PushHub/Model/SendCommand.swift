import Crypto
import RichPushModel
import ServiceErrors
import TagExpressions
import WireText

/// A send as a caller asks for it.
public struct SendCommand: Hashable, Sendable {
    public var message: PushMessage
    /// Divides the users into groups, for which there may be translations. Only for a native send to an audience.
    public var split: PushSplit?
    /// What devices in these languages or groups get in place of the message's body. Only for a native send to an audience. The order is part of
    /// the send.
    public var translations: [PushTranslation] = []
    /// Which targets of a device it means.
    public var format: SendFormat
    public var recipients: SendRecipients
    /// Whether it means the native targets of every platform that has a transport. The message is one for Apple's devices, and the
    /// transports of other platforms make theirs of it. Only for a native send to Apple's devices in an audience.
    public var reachesEveryPlatform = false
    /// Whether each platform has slices of its own, so that no push service waits for another. Devices of any platform have templates.
    var hasPlatformParts: Bool { reachesEveryPlatform || format == .template }
    /// When it is due; absent means now.
    public var dueAt: Timestamp?
    /// When it is due in each time zone, in place of `dueAt`. Only for a native send to an audience.
    public var zones: ZoneMoments?
    /// At most so many pushes of this send leave in a second, 1 to 100,000: it protects what the audience fetches its content
    /// from. Absent means as fast as the push service takes them. Each slice has its share of it, so it holds over all nodes
    /// together (`SlicePlan.share`).
    public var pushesPerSecond: Int?
    /// Users who had as many sends of this name get nothing. Only for a send to an audience.
    public var cap: FrequencyCap?
    /// Whether each device is named in an `OutcomeReport`. Only for a send to an audience. Not part of the digest.
    public var reportsOutcomes = false
    /// Repeats the answer of an earlier send with the same key and content instead of sending again. 1 to 128 bytes.
    public var idempotencyKey: String?

    /// Creates a command to all records, or to those that match.
    public init(
        message: PushMessage, audience: TagExpression?, dueAt: Timestamp? = nil, pushesPerSecond: Int? = nil,
        idempotencyKey: String? = nil
    ) {
        self.init(
            message: message, recipients: SendRecipients(audience), dueAt: dueAt, pushesPerSecond: pushesPerSecond,
            idempotencyKey: idempotencyKey)
    }

    public init(
        message: PushMessage, format: SendFormat = .native(.apns), recipients: SendRecipients, dueAt: Timestamp? = nil,
        pushesPerSecond: Int? = nil, idempotencyKey: String? = nil
    ) {
        self.message = message
        self.format = format
        self.recipients = recipients
        self.dueAt = dueAt
        self.pushesPerSecond = pushesPerSecond
        self.idempotencyKey = idempotencyKey
    }

    /// The expression of the recipients, if there is one; a direct send has none either.
    public var audience: TagExpression? {
        get { recipients.audience }
        set { recipients = SendRecipients(newValue) }
    }

    /// The values that `pushesPerSecond` may have.
    public static let paceRange = 1...100_000
}

/// The answer to a send that was accepted: it is on disk and will be dispatched.
public struct SendReceipt: Hashable, Sendable {
    public var id: NotificationID
    public var dueAt: Timestamp
    /// Whether this repeats the answer of an earlier send with the same idempotency key.
    public var isRepeat: Bool
    /// How many devices the send is for. Absent for a repeat, for more than 10,000, for a scheduled send and for a hub elsewhere.
    public var targets: Int?

    public init(id: NotificationID, dueAt: Timestamp, isRepeat: Bool, targets: Int? = nil) {
        self.id = id
        self.dueAt = dueAt
        self.isRepeat = isRepeat
        self.targets = targets
    }
}

/// What is pushed: the bytes for the push service and the headers that go with them. The same for the whole audience.
public struct PushMessage: Hashable, Sendable {
    /// The body exactly as the push service gets it. What is larger than APNs carries, 4,096 bytes (Reference/APNs.md#3-2), is
    /// taken and counts as too large for every target.
    public var body: [UInt8]
    /// `alert`, `background`, … (Reference/APNs.md#3-3); absent means: derived from the body at intake.
    public var pushType: String?
    /// 10, 5 or 1; absent means: 5 for `background`, else 10.
    public var priority: Int?
    /// At most 64 bytes. An alert without one gets one from the notification, so that a duplicate replaces it.
    public var collapseID: String?
    /// Becomes `apns-expiration` and ends the retries; absent means retries for 30 minutes and no such header. `oneTry` means one
    /// try, now, and `apns-expiration: 0` (Reference/APNs.md#3-2).
    public var expiresAt: Timestamp?
    /// The APNs topic; absent means the device's, else the hub's.
    public var topic: String?

    /// Bytes that APNs carries at most (Reference/APNs.md#3-2).
    static func largestBody(ofType pushType: String) -> Int { pushType == "voip" ? 5120 : 4096 }

    /// The expiry of a message that is worth one try only: it is not stored for a device that is offline.
    public static let oneTry = Timestamp(milliseconds: 0)

    public init(
        body: [UInt8], pushType: String? = nil, priority: Int? = nil, collapseID: String? = nil, expiresAt: Timestamp? = nil,
        topic: String? = nil
    ) {
        self.body = body
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.topic = topic
    }
}

/// What kind of targets a send means.
public enum SendFormat: Hashable, Sendable {
    /// The native targets of one platform; the body is what its push service gets. Without a transport for the platform
    /// every target counts as `no-transport`.
    case native(Platform)
    /// The templates of every platform; the body is a JSON object of properties that are filled in.
    case template
}

extension SendFormat {
    /// Whether it is a native send that APNs carries.
    var isAPNs: Bool { if case .native(let platform) = self { platform.isAPNs } else { false } }

    /// The word that is stored: the platform, or `template`.
    public var text: String {
        switch self {
        case .native(let platform): platform.rawValue
        case .template: "template"
        }
    }

    /// Reads the word from storage.
    public init(stored text: String) { self = text == "template" ? .template : .native(Platform(rawValue: text)) }
}

/// The audience of a send.
public enum SendRecipients: Hashable, Sendable {
    /// Every device of the hub.
    case everyone
    /// The devices that match.
    case matching(TagExpression)
    /// These handles, registered or not (direct sends). One that stands there more than once counts once.
    case handles([DeviceToken])

    /// All records, or those that match.
    public init(_ audience: TagExpression?) { self = audience.map(SendRecipients.matching) ?? .everyone }

    /// The expression, if there is one. Everyone and a direct send have none.
    public var audience: TagExpression? {
        if case .matching(let expression) = self { expression } else { nil }
    }

    /// The handles of a direct send.
    public var handles: [DeviceToken]? {
        if case .handles(let handles) = self { handles } else { nil }
    }
}

extension SendCommand {
    /// A digest of all that the command says, the idempotency key aside: a key stands for one content only.
    public var digest: [UInt8] {
        var hash = SHA256()
        var words: [String?] = [
            message.pushType, message.priority.map(String.init), message.collapseID,
            message.expiresAt.map { String($0.milliseconds) }, message.topic, audience?.description,
            dueAt.map { String($0.milliseconds) },
        ]
        // Only if given, so that the digests of sends without it stay what they were before there was such a field.
        if let pushesPerSecond { words.append("pace \(pushesPerSecond)") }
        if let zones { words.append("zones \(zones.wish)") }
        if let split { words.append("split \(split.stored)") }
        if let cap { words.append("cap \(cap)") }
        for translation in translations {
            words += [
                "language \(TranslationKey.stored([translation.key]) ?? "")", String(decoding: translation.body, as: UTF8.self),
            ]
        }
        if format != .native(.apns) { words.append("format \(format.text)") }
        if reachesEveryPlatform { words.append("every platform") }
        if let handles = recipients.handles { words.append("handles \(handles.map(\.text).joined(separator: " "))") }
        for field in [Array(message.body)] + words.map({ $0.map { Array("=\($0)".utf8) } ?? [] }) {
            hash.update(data: Array("\(field.count):".utf8))
            hash.update(data: field)
        }
        return Array(hash.finalize())
    }
}

/// What may travel in a header of the push service: a line break or a foreign byte there would end or forge a header.
public enum HeaderText {
    /// Whether the text is visible ASCII.
    static func isSafe(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Whether the text is 1 to 128 letters, digits, dots, hyphens and underscores: a bundle identifier with its suffix.
    public static func isTopic(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || ".-_".utf8.contains($0) }
    }

    /// Throws unless the text is a topic.
    static func checkTopic(_ topic: String) throws {
        guard isTopic(topic) else {
            throw ServiceError(.invalidField, "a topic has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
    }

    /// Throws unless the text is at most 64 bytes of printable ASCII (Reference/APNs.md#3-2).
    static func checkCollapseID(_ text: String) throws {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ServiceError(.invalidField, "a collapse id has 1 to 64 bytes of printable ASCII")
        }
    }
}
