import CalendarTime
import Crypto
import PushHub
import RichPushModel
import TagExpressions
import WireText

/// A rich notification as the server keeps it.
public struct RichNotification: Hashable, Sendable {
    public var id: RichID
    public var sender: UserID
    public var senderName: UserName
    public var kind: ContentKind
    public var style: DeliveryStyle
    public var texts: NotificationTexts
    public var content: ContentRecord?
    public var thumb: ContentRecord?
    /// For whom there are translations.
    public var translations: [TranslationKey] = []
    /// The groups of an A/B test, with their key.
    public var split: SendSplit?
    /// That of the texts and contents, if they are a translation's that has one.
    public var language: LanguageTag?
    public var audience: TagExpression
    public var dueAt: Timestamp
    /// Where in the order of the database it began.
    public var order: OrderNumber
    /// After this it can no longer be read.
    public var expiresAt: Timestamp?
    /// When the hub was done with it; absent until then.
    public var completedAt: Timestamp?
    /// Where in the order of the database it ended. Absent until then, and when a hub elsewhere was done with it.
    public var endOrder: OrderNumber?
    public var recalledAt: Timestamp?
    /// The hub's id; absent until the hub has taken it.
    public var trackingID: NotificationID?
    /// Whether the hub refused it permanently.
    public var isRefused: Bool

    /// Creates a notification.
    public init(
        id: RichID, sender: UserID, senderName: UserName, kind: ContentKind, style: DeliveryStyle, texts: NotificationTexts,
        content: ContentRecord?, thumb: ContentRecord?, audience: TagExpression, dueAt: Timestamp, order: OrderNumber,
        expiresAt: Timestamp?, completedAt: Timestamp? = nil, endOrder: OrderNumber? = nil, recalledAt: Timestamp? = nil,
        trackingID: NotificationID? = nil, isRefused: Bool = false
    ) {
        self.id = id
        self.sender = sender
        self.senderName = senderName
        self.kind = kind
        self.style = style
        self.texts = texts
        self.content = content
        self.thumb = thumb
        self.audience = audience
        self.dueAt = dueAt
        self.order = order
        self.expiresAt = expiresAt
        self.completedAt = completedAt
        self.endOrder = endOrder
        self.recalledAt = recalledAt
        self.trackingID = trackingID
        self.isRefused = isRefused
    }
}

/// What a notification is in one language.
public struct RichTranslation: Hashable, Sendable {
    public var texts: NotificationTexts
    public var content: ContentRecord?
    public var thumb: ContentRecord?

    /// Creates a translation.
    public init(texts: NotificationTexts, content: ContentRecord?, thumb: ContentRecord?) {
        self.texts = texts
        self.content = content
        self.thumb = thumb
    }
}

/// A translation that was checked and is to be stored, with all that it takes from the notification.
public struct TranslationDraft: Hashable, Sendable {
    public var key: TranslationKey
    public var texts: NotificationTexts
    public var contentID: String?
    public var thumbID: String?
    public var push: PushTemplate

    /// Creates a draft.
    public init(
        key: TranslationKey, texts: NotificationTexts, contentID: String? = nil, thumbID: String? = nil, push: PushTemplate
    ) {
        self.key = key
        self.texts = texts
        self.contentID = contentID
        self.thumbID = thumbID
        self.push = push
    }
}

/// What a notification says.
public struct NotificationTexts: Hashable, Sendable {
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?

    /// Creates the texts of a notification.
    public init(title: String? = nil, subtitle: String? = nil, message: String, altText: String? = nil) {
        self.title = title
        self.subtitle = subtitle
        self.message = message
        self.altText = altText
    }
}

/// A rich notification that was checked and is to be stored: everything but its number.
public struct RichNotificationDraft: Hashable, Sendable {
    public var sender: UserID
    public var senderName: UserName
    public var kind: ContentKind
    public var style: DeliveryStyle
    public var texts: NotificationTexts
    /// Contents of the sender, waiting or sent before.
    public var contentID: String?
    public var thumbID: String?
    public var audience: TagExpression
    public var expiresAt: Timestamp?
    /// The pace of the push (see `SendCommand`).
    public var pushesPerSecond: Int?
    public var push: PushTemplate
    /// A random word that makes the hub's idempotency key unlike that of any other backend.
    public var nonce: String
    public var idempotencyKey: IdempotencyKey?
    /// The number that the sender sealed it under; absent for the next.
    public var number: RichID?
    /// How the schedule that it comes from goes on.
    public var step: ScheduleStep?
    /// When it is due, if not now and everywhere.
    public var localTime: LocalDelivery?
    /// What holds it back for some users.
    public var cap: FrequencyCap?
    /// The groups of an A/B test, with their key.
    public var split: SendSplit?
    /// At most `PushTranslation.limit`, each with another key.
    public var translations: [TranslationDraft] = []

    /// The contents that it needs, each with the name of its field.
    public var contents: [(id: String, field: String)] {
        var all = [(contentID, "contentId"), (thumbID, "thumbId")]
        for (place, translation) in translations.enumerated() {
            all.append((translation.contentID, "translations[\(place)]: contentId"))
            all.append((translation.thumbID, "translations[\(place)]: thumbId"))
        }
        return all.compactMap { id, field in id.map { ($0, field) } }
    }

    /// Whether the push is another in some language. With a neutral preview it is the same in all.
    public var hasTranslatedPush: Bool { translations.contains { $0.push != push } }

    /// Creates a draft.
    public init(
        sender: UserID, senderName: UserName, kind: ContentKind, style: DeliveryStyle, texts: NotificationTexts,
        contentID: String? = nil, thumbID: String? = nil, audience: TagExpression, expiresAt: Timestamp? = nil,
        pushesPerSecond: Int? = nil, push: PushTemplate, nonce: String, idempotencyKey: IdempotencyKey? = nil,
        number: RichID? = nil
    ) {
        self.sender = sender
        self.senderName = senderName
        self.kind = kind
        self.style = style
        self.texts = texts
        self.contentID = contentID
        self.thumbID = thumbID
        self.audience = audience
        self.expiresAt = expiresAt
        self.pushesPerSecond = pushesPerSecond
        self.push = push
        self.nonce = nonce
        self.idempotencyKey = idempotencyKey
        self.number = number
    }
}

/// A caller's idempotency key and what it was used for.
public struct IdempotencyKey: Hashable, Sendable, Codable {
    /// Scoped to the sender.
    public var key: String
    /// SHA-256 of the request; the same key with another digest is refused.
    public var digest: [UInt8]

    /// Creates a key.
    public init(key: String, digest: [UInt8]) {
        self.key = key
        self.digest = digest
    }
}

/// What became of a draft.
public enum Acceptance: Hashable, Sendable {
    case accepted(RichNotification)
    /// The idempotency key was used for the same request.
    case repeated(RichNotification)
    /// The idempotency key was used for another request.
    case repeatMismatch
}

/// A push as the hub gets it.
public struct OutgoingPush: Hashable, Sendable {
    public var message: PushMessage
    public var translations: [PushTranslation]
    public var pushesPerSecond: Int?
    /// When it is due, if not now and everywhere.
    public var localTime: LocalDelivery?
    /// What holds it back for some users.
    public var cap: FrequencyCap?
    /// Its groups.
    public var split: PushSplit?
    /// The hub's idempotency key: the same however often it is handed over.
    public var hubKey: String

    /// Creates a push.
    public init(
        message: PushMessage, translations: [PushTranslation] = [], pushesPerSecond: Int? = nil, localTime: LocalDelivery? = nil,
        cap: FrequencyCap? = nil, split: PushSplit? = nil, hubKey: String
    ) {
        self.message = message
        self.translations = translations
        self.pushesPerSecond = pushesPerSecond
        self.localTime = localTime
        self.cap = cap
        self.split = split
        self.hubKey = hubKey
    }
}

extension SendSplit: StoredAsText {
    /// As the hub has it; `nil` without a key, and for groups that no hub takes.
    public var ofPushes: PushSplit? { key.flatMap { PushSplit(key: $0, percents: groups.map(\.percent)) } }

    /// The number of the user's group, from 1; 0 for the rest.
    public func group(of user: UserName) -> Int { ofPushes?.group(of: PushRecipient(user: user)) ?? 0 }
}

/// That the clock of each device decides when a push is due.
public struct LocalDelivery: Hashable, StoredAsText, Sendable {
    /// A date and a time of day, such as `2027-01-04T09:00`; absent for a push that is due at `notBefore`.
    public var time: String?
    /// The zone of devices that report none, or one that the tz database does not have.
    public var fallbackZone: String
    /// When it was asked for. What was due before counts as passed: nothing is pushed for it.
    public var notBefore: Timestamp
    /// For how long after its time a push is worth sending.
    public var lifetimeSeconds: Int?
    /// Hours in which it waits until they end.
    public var quiet: QuietHours?
    /// Whether it waits in the own quiet hours of users too.
    public var keepsUserHours: Bool?

    /// Creates a rule.
    public init(
        time: String? = nil, fallbackZone: String, notBefore: Timestamp, lifetimeSeconds: Int? = nil, quiet: QuietHours? = nil
    ) {
        self.time = time
        self.fallbackZone = fallbackZone
        self.notBefore = notBefore
        self.lifetimeSeconds = lifetimeSeconds
        self.quiet = quiet
    }

    /// When it is due in a zone, or there by the clock of users with hours of their own; `nil` where the zone leaves out the date.
    func moment(in zone: TimeZoneRules, own: QuietHours? = nil) -> Timestamp? {
        var moment = notBefore
        if let time {
            guard let wish = LocalDateTime(time), let seconds = zone.seconds(of: wish) else { return nil }
            moment = Timestamp(seconds: seconds)
        }
        // What had passed when it was asked for stays so, though it would have waited until now.
        guard moment >= notBefore else { return moment }
        let kept = [quiet, keepsUserHours == true ? own : nil].compactMap(\.self)
        // The end of some hours may lie in others. Hours that leave no time of the day free end with the second round.
        for hours in kept + kept {
            if let end = hours.end(atSeconds: moment.seconds, in: zone) { moment = Timestamp(seconds: end) }
        }
        return moment
    }
}

/// A question for an inbox.
public struct InboxQuery: Hashable, Sendable {
    public var keys: [AudienceKey]
    /// The user's tags of all times count as keys too.
    public var user: UserID
    public var before: RichID?
    public var since: RichID?
    /// Whether what the user has read is left out.
    public var unreadOnly: Bool
    public var limit: Int

    /// Creates a question.
    public init(keys: [AudienceKey], user: UserID, before: RichID?, since: RichID?, unreadOnly: Bool = false, limit: Int) {
        self.keys = keys
        self.user = user
        self.before = before
        self.since = since
        self.unreadOnly = unreadOnly
        self.limit = limit
    }
}

/// A question for a list of sends.
public struct SendListQuery: Hashable, Sendable {
    /// Which sends, in which order.
    public enum Order: Hashable, Sendable {
        /// Those with a lower number, or all.
        case number(below: RichID?)
        /// Those that were due within the range, by the moment and then by the number; below a place in that order, or all.
        case time(Range<Timestamp>, below: Place?)
    }

    /// The place of a send in the order of time.
    public struct Place: Hashable, Sendable {
        public var dueAt: Timestamp
        public var id: RichID

        /// Creates a place.
        public init(dueAt: Timestamp, id: RichID) {
            self.dueAt = dueAt
            self.id = id
        }

        /// Reads the form in which callers get it.
        init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let moment = Int64(parts[0]), let id = RichID(String(parts[1])) else { return nil }
            self.init(dueAt: Timestamp(milliseconds: moment), id: id)
        }

        /// The form in which callers get it.
        var text: String { "\(dueAt.milliseconds)-\(id)" }
    }

    /// Of one user, or of all for `nil`.
    public var sender: UserID?
    public var order: Order
    public var limit: Int

    /// Creates a question.
    public init(of sender: UserID? = nil, by order: Order, limit: Int) {
        self.sender = sender
        self.order = order
        self.limit = limit
    }
}

/// What is left to do for a notification.
public struct OutboxWork: Hashable, Sendable {
    /// The kinds of work; the raw value is stored.
    public enum Task: String, Sendable {
        /// Hand it to the hub.
        case send
        /// Ask the hub whether it completed.
        case track
        /// Cancel it at the hub.
        case cancel
    }

    public var id: RichID
    public var task: Task
    /// When the notification was due, for pacing the questions.
    public var dueAt: Timestamp

    /// Creates work.
    public init(id: RichID, task: Task, dueAt: Timestamp) {
        self.id = id
        self.task = task
        self.dueAt = dueAt
    }
}

/// A receipt with its sender.
public struct StoredReceipt: Hashable, Sendable {
    public var receipt: Receipt
    public var user: UserID
    public var installation: InstallationID

    /// Creates a receipt.
    public init(receipt: Receipt, user: UserID, installation: InstallationID) {
        self.receipt = receipt
        self.user = user
        self.installation = installation
    }

    /// The same for every duplicate: a hash of installation, notification, kind and action. None of them holds a line feed.
    public var key: String {
        let parts = [installation.text, receipt.richID.description, receipt.kind.rawValue, receipt.action ?? ""]
        return Hexadecimal.text(of: SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)))
    }
}
