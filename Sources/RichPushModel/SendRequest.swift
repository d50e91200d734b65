/// The JSON body of `POST /api/v1/notifications`, and the part named `notification` of its multipart form.
public struct SendRequest: Hashable, Sendable, Codable {
    /// A tag expression, for example `username:alice && !beta`. Absent means the sender's own devices.
    public var audience: String?
    /// The message template that it is made from: what the request leaves out is that of the template.
    public var template: TemplateUse?
    public var title: String?
    public var subtitle: String?
    /// The text of the notification: 1 to 2,000 characters. Empty for kind `sealed`, whose text is inside the seal, and for that of the
    /// template.
    public var message: String
    /// What the phone shows in place of a picture or sound to users who cannot perceive it.
    public var altText: String?
    /// Default: found from the content; `text` when there is none.
    public var kind: ContentKind?
    /// Default `alert`.
    public var style: DeliveryStyle?
    /// Default `neutral`.
    public var preview: PreviewPolicy?
    /// The id of content stored before with `POST /api/v1/content`.
    public var contentID: String?
    /// The id of the small variant, stored before.
    public var thumbID: String?
    /// For kind `url`: an absolute https link (http only to loopback), at most 2,000 characters.
    public var link: String?
    /// For kind `coupon`.
    public var coupon: Coupon?
    /// Divides the receivers into groups that get different texts, for an A/B test. Not for kind `sealed`.
    public var split: SendSplit?
    /// What receivers in other languages get, or those in a group of `split`, at most 50. A receiver without one that fits gets the request
    /// as it is. Not for kind `sealed`.
    public var translations: [SendTranslation]?
    /// Milliseconds since 1970 after which the push is of no use.
    public var expiresAt: Timestamp?
    /// At most 64 bytes (Reference/APNs.md#3-2).
    public var collapseID: String?
    /// A sound file of the app, or `default`; absent means `default` for visible styles.
    public var sound: String?
    public var badge: Int?
    /// Groups notifications on the phone.
    public var thread: String?
    /// The most pushes of this send in a second, 1 to 100,000, so that an audience that fetches at once does not overload the server it
    /// fetches from. Absent means as fast as possible.
    public var pushesPerSecond: Int?
    /// Whether it leaves also in the quiet hours of the server and past its frequency caps, as a one-time code or an answer has to.
    public var transactional: Bool?
    /// The name of a frequency cap of the server, which its sends count against, for example `marketing`. Users who had as many as the cap
    /// allows get no push. Absent means that nothing is counted.
    public var frequencyCap: String?
    /// For kind `sealed` only, and required there: the number that it is sealed under, from `GET /api/v1/sealing`. When another send
    /// takes the number first, the answer is 409; the sender asks for a new number and seals the envelope again.
    public var id: RichID?

    /// Creates a request; everything but the message has a default.
    public init(message: String) { self.message = message }

    private enum CodingKeys: String, CodingKey {
        case audience, template, title, subtitle, message, altText, kind, style, preview, contentID = "contentId", thumbID =
            "thumbId"
        case link, coupon, split, translations, expiresAt, collapseID = "collapseId", sound, badge, thread
        case pushesPerSecond, transactional, frequencyCap, id
    }
}

extension SendRequest {
    /// Reads a request. Without a message it is empty.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(message: try fields.decodeIfPresent(String.self, forKey: .message) ?? "")
        audience = try fields.decodeIfPresent(String.self, forKey: .audience)
        template = try fields.decodeIfPresent(TemplateUse.self, forKey: .template)
        title = try fields.decodeIfPresent(String.self, forKey: .title)
        subtitle = try fields.decodeIfPresent(String.self, forKey: .subtitle)
        altText = try fields.decodeIfPresent(String.self, forKey: .altText)
        kind = try fields.decodeIfPresent(ContentKind.self, forKey: .kind)
        style = try fields.decodeIfPresent(DeliveryStyle.self, forKey: .style)
        preview = try fields.decodeIfPresent(PreviewPolicy.self, forKey: .preview)
        contentID = try fields.decodeIfPresent(String.self, forKey: .contentID)
        thumbID = try fields.decodeIfPresent(String.self, forKey: .thumbID)
        link = try fields.decodeIfPresent(String.self, forKey: .link)
        coupon = try fields.decodeIfPresent(Coupon.self, forKey: .coupon)
        split = try fields.decodeIfPresent(SendSplit.self, forKey: .split)
        translations = try fields.decodeIfPresent([SendTranslation].self, forKey: .translations)
        expiresAt = try fields.decodeIfPresent(Timestamp.self, forKey: .expiresAt)
        collapseID = try fields.decodeIfPresent(String.self, forKey: .collapseID)
        sound = try fields.decodeIfPresent(String.self, forKey: .sound)
        badge = try fields.decodeIfPresent(Int.self, forKey: .badge)
        thread = try fields.decodeIfPresent(String.self, forKey: .thread)
        pushesPerSecond = try fields.decodeIfPresent(Int.self, forKey: .pushesPerSecond)
        transactional = try fields.decodeIfPresent(Bool.self, forKey: .transactional)
        frequencyCap = try fields.decodeIfPresent(String.self, forKey: .frequencyCap)
        id = try fields.decodeIfPresent(RichID.self, forKey: .id)
    }
}

/// The groups of an A/B test. A user is in one group with all devices, by chance but always the same.
public struct SendSplit: Hashable, Sendable, Codable {
    /// One group. What it gets stands in the translations that name it; without one it gets the request as it is.
    public struct Group: Hashable, Sendable, Codable {
        /// 1 to 32 letters, digits, hyphens and underscores.
        public var name: String
        /// How many of a hundred users are in it, 1 to 100.
        public var percent: Int

        /// Creates a group.
        public init(name: String, percent: Int) {
            self.name = name
            self.percent = percent
        }
    }

    /// Sends with the same key and the same percents have the same users in each group. 1 to 64 letters, digits, dots, hyphens and
    /// underscores. Absent means that chance decides anew in each send.
    public var key: String?
    /// 1 to 10, together at most a hundred percent. All others get the request as it is.
    public var groups: [Group]

    /// Creates a split.
    public init(key: String? = nil, groups: [Group]) {
        self.key = key
        self.groups = groups
    }
}

/// What receivers in one language get, or those in one group of an A/B test. A field that is absent is that of the request. A content, a
/// link or a coupon replaces the small variant as well.
public struct SendTranslation: Hashable, Sendable, Codable {
    /// A language tag (BCP 47), for example `pt-BR`. Devices that report `pt-BR-x-formal` get it as well, devices that report `pt` do not
    /// (https://www.rfc-editor.org/rfc/rfc4647#section-3.4). Absent only for what a group gets in all languages.
    public var language: String?
    /// The name of a group of the request's `split`. A group with a translation needs one without a language, and gets none of those that
    /// name no group.
    public var group: String?
    public var title: String?
    public var subtitle: String?
    public var message: String?
    public var altText: String?
    public var contentID: String?
    public var thumbID: String?
    public var link: String?
    public var coupon: Coupon?

    /// Creates a translation; what is not named here is that of the request until it is set.
    public init(language: String? = nil, group: String? = nil, message: String? = nil) {
        self.language = language
        self.group = group
        self.message = message
    }

    private enum CodingKeys: String, CodingKey {
        case language, group, title, subtitle, message, altText, contentID = "contentId", thumbID = "thumbId", link, coupon
    }
}

/// The answer to a send, with status 201 for a request with a body.
public struct SendAnswer: Hashable, Sendable, Codable {
    public var id: RichID
    /// The hub's own id of the send, for telemetry requests.
    public var trackingID: String
    /// A sentence that says who may read the content: an audience over self-chosen tags admits every user who takes the tag in time.
    public var readableBy: String
    /// True when content came with the request and its stored bytes differ from those that were sent, because metadata was removed.
    public var metadataRemoved: Bool?

    /// Creates an answer.
    public init(id: RichID, trackingID: String, readableBy: String, metadataRemoved: Bool? = nil) {
        self.id = id
        self.trackingID = trackingID
        self.readableBy = readableBy
        self.metadataRemoved = metadataRemoved
    }

    private enum CodingKeys: String, CodingKey { case id, trackingID = "trackingId", readableBy, metadataRemoved }
}

/// The answer to `POST /api/v1/content`.
public struct ContentAnswer: Hashable, Sendable, Codable {
    /// Name it in `contentId` or `thumbId` of a send; only the user who stored it may.
    public var id: String
    /// Size and SHA-256 are those of the stored bytes.
    public var content: ContentDescriptor
    /// True when the stored bytes differ from those that were sent, because metadata was removed; absent otherwise.
    public var metadataRemoved: Bool?

    /// Creates an answer.
    public init(id: String, content: ContentDescriptor, metadataRemoved: Bool? = nil) {
        self.id = id
        self.content = content
        self.metadataRemoved = metadataRemoved
    }
}

/// How a rich notification reaches the phone.
public enum DeliveryStyle: String, Sendable, Codable, CaseIterable {
    /// A background push; the app fetches and shows a local notification. iOS throttles these.
    case silent
    /// A visible push with `mutable-content`, enriched by the service extension. The default for new callers.
    case alert
    /// A visible push that also wakes the app.
    case both
}

/// What Apple may read of a rich notification.
public enum PreviewPolicy: String, Sendable, Codable, CaseIterable {
    /// Title and message travel in the push.
    case open
    /// Only the configured neutral text travels; title and message come with the content.
    case neutral
}

/// Where a send stands. `Documentation/Retries.md` lists all values.
public struct SendStatus: Hashable, Sendable, Codable {
    /// What a send waits for while its last try could not be made.
    public struct Waiting: Hashable, Sendable, Codable {
        /// `operator`: an operator has to correct the credential or the configuration. `push-service`: APNs, or the connection to it,
        /// has to recover.
        public var cause: String
        /// The reason from APNs or from the server's client, for example `InvalidProviderToken`.
        public var reason: String
        /// The reason for a person. Absent from a server of an earlier version.
        public var words: String?

        /// Creates a wait.
        public init(cause: String, reason: String, words: String? = nil) {
            self.cause = cause
            self.reason = reason
            self.words = words
        }

        private enum CodingKeys: String, CodingKey {
            case cause = "for"
            case reason, words
        }
    }

    /// A device that ended without its push.
    public struct Failure: Hashable, Sendable, Codable {
        /// The id of its registration; absent when the device was removed.
        public var device: String?
        /// One of the keys of `outcomes`.
        public var outcome: String
        /// The reason from APNs or from the server's client, if there was one.
        public var reason: String?

        /// Creates a failure.
        public init(device: String?, outcome: String, reason: String?) {
            self.device = device
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// A moment at which a send is due that is due by the clocks of the devices.
    public struct LocalTime: Hashable, Sendable, Codable {
        public var dueAt: Timestamp
        /// The zones in which it is due then, by their names in the tz database.
        public var timeZones: [String]
        /// Whether it is also due then for devices in every zone that no other moment has.
        public var includesOtherZones: Bool
        /// Whether all that was due then is done.
        public var isOver: Bool

        /// Creates a moment.
        public init(dueAt: Timestamp, timeZones: [String], includesOtherZones: Bool, isOver: Bool) {
            self.dueAt = dueAt
            self.timeZones = timeZones
            self.includesOtherZones = includesOtherZones
            self.isOver = isOver
        }
    }

    /// What became of one group of an A/B test.
    public struct Group: Hashable, Sendable, Codable {
        /// Absent for those who are in none of the groups.
        public var name: String?
        /// How many of a hundred users are in it.
        public var percent: Int
        /// How many targets ended with each outcome.
        public var outcomes: [String: Int]
        /// How many installations sent each kind of receipt; counting stops at a million.
        public var receipts: [String: Int]

        /// Creates a result.
        public init(name: String?, percent: Int, outcomes: [String: Int], receipts: [String: Int]) {
            self.name = name
            self.percent = percent
            self.outcomes = outcomes
            self.receipts = receipts
        }
    }

    /// `scheduled`, `accepted`, `dispatching`, `completed`, `cancelled`, `expired` or `failed`.
    public var state: String
    /// How many devices the send is for. Absent while a send to more than 10,000 devices is under way, and where the hub does not say.
    public var targets: Int?
    /// How many targets ended with each outcome, for example `accepted: 3`. Each target counts once.
    public var outcomes: [String: Int]
    /// How many targets ended with an outcome for each reason that was given: first the outcome, then the reason.
    public var reasons: [String: [String: Int]]?
    /// When the first node began to push; absent before.
    public var startedAt: Timestamp?
    /// When it was done with all devices; absent before.
    public var endedAt: Timestamp?
    /// What the send waits for now.
    public var waiting: Waiting?
    /// When it is due in which zones; only for a send by the clocks of the devices, and not in a list.
    public var localTimes: [LocalTime]?
    /// The groups of an A/B test, in their order; not in a list.
    public var groups: [Group]?
    /// Sentences for the sender about likely mistakes.
    public var warnings: [String]?
    /// Devices that ended without their push, at most 100; only an administrator sees them.
    public var failures: [Failure]?
    /// How many installations sent each kind of receipt; counting stops at 10,000 receipts of a kind. Absent in a list.
    public var receipts: [String: Int]?

    /// Creates a status.
    public init(state: String, outcomes: [String: Int], receipts: [String: Int]?) {
        self.state = state
        self.outcomes = outcomes
        self.receipts = receipts
    }
}

/// A send in a list, without the text and the content of the notification.
public struct SendListEntry: Hashable, Sendable, Codable {
    /// The most characters of an audience in a list.
    public static let audienceLimit = 200

    /// The number that the push carried.
    public var id: RichID
    /// When it was due.
    public var dueAt: Timestamp
    /// The name of the user who sent it.
    public var sender: String
    /// The tag expression; one that is longer than 200 characters is cut, and ends with `…`.
    public var audience: String
    /// Where it stands. `failures` and `receipts` are not in it. Absent for a send that was handed to a hub elsewhere, and while the hub
    /// does not answer.
    public var status: SendStatus?

    /// Creates an entry.
    public init(id: RichID, dueAt: Timestamp, sender: String, audience: String, status: SendStatus?) {
        self.id = id
        self.dueAt = dueAt
        self.sender = sender
        self.audience =
            audience.count <= Self.audienceLimit ? audience : String(audience.prefix(Self.audienceLimit - 1)) + "…"
        self.status = status
    }
}

/// A page of sends, newest first.
public struct SendList: Hashable, Sendable, Codable {
    public var sends: [SendListEntry]
    /// Pass it as `before` to read on towards older ones; absent on the last page.
    public var next: String?

    /// Creates a page.
    public init(sends: [SendListEntry], next: String? = nil) {
        self.sends = sends
        self.next = next
    }
}
