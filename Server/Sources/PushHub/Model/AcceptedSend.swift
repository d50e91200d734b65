import RichPushModel
import TagExpressions

/// A send as intake hands it to storage: one transaction makes all of it durable.
public struct AcceptedSend: Hashable, Sendable {
    /// An idempotency key and the digest of what it stands for.
    public struct Idempotency: Hashable, Sendable {
        public var key: String
        public var digest: [UInt8]

        public init(key: String, digest: [UInt8]) {
            self.key = key
            self.digest = digest
        }
    }

    public var hub: HubID
    public var id: NotificationID
    public var message: AcceptedMessage
    public var recipients: SendRecipients
    /// The audience as intake has compiled it. Where it is absent the store compiles it; a direct send has none.
    public var query: AudienceQuery?
    public var enqueuedAt: Timestamp
    public var dueAt: Timestamp
    public var slices: SlicePlan
    /// Of a send by local time, in place of `slices`.
    public var waves: [SendWave] = []
    /// What goes to other platforms than that of the message's format, each in slices of its own: no push service waits for another.
    public var others: [PlatformPart] = []
    /// How many devices it is for, as far as that is known now.
    public var targets: Int?
    /// At most so many pushes leave in a second, by each node.
    public var pushesPerSecond: Int?
    /// Its groups, if it has some.
    public var split: PushSplit?
    /// What holds it back for some users.
    public var cap: FrequencyCap?
    /// Whether each device is named in an `OutcomeReport`.
    public var reportsOutcomes = false
    public var idempotency: Idempotency?

    /// Creates a send to all records, or to those that match.
    public init(
        hub: HubID, id: NotificationID, message: AcceptedMessage, audience: TagExpression?, enqueuedAt: Timestamp,
        dueAt: Timestamp, slices: SlicePlan, pushesPerSecond: Int? = nil, idempotency: Idempotency? = nil
    ) {
        self.init(
            hub: hub, id: id, message: message, recipients: SendRecipients(audience), enqueuedAt: enqueuedAt, dueAt: dueAt,
            slices: slices, pushesPerSecond: pushesPerSecond, idempotency: idempotency)
    }

    /// Creates a send. The slices of a direct send are ranges of positions.
    public init(
        hub: HubID, id: NotificationID, message: AcceptedMessage, recipients: SendRecipients, enqueuedAt: Timestamp,
        dueAt: Timestamp, slices: SlicePlan, pushesPerSecond: Int? = nil, idempotency: Idempotency? = nil
    ) {
        self.hub = hub
        self.id = id
        self.message = message
        self.recipients = recipients
        self.enqueuedAt = enqueuedAt
        self.dueAt = dueAt
        self.slices = slices
        self.pushesPerSecond = pushesPerSecond
        self.idempotency = idempotency
    }

    /// Whether it begins later than it was accepted.
    public var isScheduled: Bool { dueAt > enqueuedAt }

    /// The expression, if there is one; a direct send has none either.
    public var audience: TagExpression? { recipients.audience }
}

/// A message that passed every check; nothing about it is left open.
public struct AcceptedMessage: Hashable, Sendable {
    public var format: SendFormat
    /// For a template send the properties.
    public var body: [UInt8]
    /// For a template send that of the templates that say none; empty where the send says none either: their results show it.
    public var pushType: String
    /// The same; 0 where the send says none.
    public var priority: Int
    /// For a template send that of the templates that say none. The notification's own name is what those of its alerts begin with.
    public var collapseID: String?
    /// The caller's expiry; it becomes `apns-expiration` and ends the retries.
    public var expiresAt: Timestamp?
    public var topic: String?
    /// What devices in these languages or groups get in place of the body.
    public var translations: [PushTranslation] = []
    /// For whose devices the body is, where the targets have another platform: their transport makes its own message of it.
    public var bodyPlatform: Platform?
    /// Of a template send the platform whose templates are filled in; a native send has one format for all targets.
    public var templatePlatform: Platform = .apns

    /// That of the targets which something is sent to.
    public var platform: Platform { if case .native(let platform) = format { platform } else { templatePlatform } }

    /// Whether the body is larger than its push service carries: no target gets it. Of a template send each result is judged.
    var isTooLarge: Bool { format.isAPNs && body.count > PushMessage.largestBody(ofType: pushType) }

    public init(
        body: [UInt8], pushType: String, priority: Int, format: SendFormat = .native(.apns), collapseID: String? = nil,
        expiresAt: Timestamp? = nil,
        topic: String? = nil
    ) {
        self.format = format
        self.body = body
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.topic = topic
    }
}

/// The part of a send by local time that is due at one moment.
public struct SendWave: Hashable, Sendable {
    public var moment: Timestamp
    /// The zones whose clocks show the time then; `ZoneMoments.otherZones` stands for those that no wave has.
    public var zones: [String]
    /// When its pushes are not worth sending any more. Absent means that of the message.
    public var expiresAt: Timestamp?
    /// Where its devices are found, besides others.
    public var query: AudienceQuery
    public var slices: SlicePlan

    public init(moment: Timestamp, zones: [String], expiresAt: Timestamp? = nil, query: AudienceQuery, slices: SlicePlan) {
        self.moment = moment
        self.zones = zones
        self.expiresAt = expiresAt
        self.query = query
        self.slices = slices
    }
}

/// The part of a send that goes to the devices of one platform.
public struct PlatformPart: Hashable, Sendable {
    public var platform: Platform
    /// Where its devices are found.
    public var query: AudienceQuery
    public var slices: SlicePlan
    /// Its part of the send's pace.
    public var pushesPerSecond: Int?

    public init(platform: Platform, query: AudienceQuery, slices: SlicePlan, pushesPerSecond: Int? = nil) {
        self.platform = platform
        self.query = query
        self.slices = slices
        self.pushesPerSecond = pushesPerSecond
    }
}

extension [PlatformPart] {
    /// What these parts leave of the pace of a send for the platform of its format. One push a second is the least.
    public func rest(of pushesPerSecond: Int?) -> Int? {
        pushesPerSecond.map { pace in Swift.max(1, pace - reduce(0) { $0 + ($1.pushesPerSecond ?? 0) }) }
    }
}

/// How a send is cut into pieces that nodes can work on beside each other.
public struct SlicePlan: Hashable, Sendable {
    /// Keys after `after` up to and with `last`.
    public struct Range: Hashable, Sendable {
        public var after: SliceKey
        public var last: SliceKey

        public init(after: SliceKey, last: SliceKey) {
            self.after = after
            self.last = last
        }
    }

    public var ranges: [Range]
    public var weight: SliceWeight

    /// Above this audience a send is split. Counting stops one above.
    public static let singleSliceLimit = 10_000
    /// Into how many ranges: enough for several nodes, few enough that the queue stays small.
    public static let split = 16

    /// Pushes a second that one slice is sure to carry, in pages of a thousand to a push service that is a tenth of a second away.
    public static let pacePerSlice = 2_000

    /// The plan for an audience of that size, as far as it was counted. One that is scheduled may have grown when it is due.
    ///
    /// One that has a pace has no more slices than it needs for that: each keeps a share of the pace by itself, so that the pace
    /// holds wherever slices are worked on.
    public init(audience: Int, isScheduled: Bool = false, pushesPerSecond: Int? = nil) {
        weight = audience > SliceWeight.smallLimit ? .large : audience > SliceWeight.singleLimit || isScheduled ? .small : .single
        let needed = pushesPerSecond.map { ($0 - 1) / Self.pacePerSlice + 1 } ?? Self.split
        ranges = Self.ranges(audience > Self.singleSliceLimit ? min(max(needed, 1), Self.split) : 1)
    }

    /// The plan for so many handles, by position from 1.
    public init(handles count: Int) {
        weight = count > SliceWeight.singleLimit ? .small : .single
        ranges = [Range(after: SliceKey(0), last: SliceKey(Int64(count)))]
    }

    /// What a slice may send of a pace. The shares of all slices are the whole; no pace is less than one for each.
    public func share(of pushesPerSecond: Int, slice number: Int) -> Int {
        pushesPerSecond / ranges.count + (number < pushesPerSecond % ranges.count ? 1 : 0)
    }

    /// Keys are hashes, so ranges of equal width hold about equally many records.
    private static func ranges(_ count: Int) -> [Range] {
        let width = UInt64.max / UInt64(count)
        let bounds = (0..<count).map { SliceKey(Int64(truncatingIfNeeded: UInt64(bitPattern: .min) &+ width &* UInt64($0))) }
        return zip(bounds, bounds.dropFirst() + [.last]).map { Range(after: $0, last: $1) }
    }
}

/// How much work a slice is expected to be. Each weight has its own worker slots, so none waits for a heavier one.
public enum SliceWeight: Int64, Sendable, Comparable, CaseIterable {
    /// The devices of one user.
    case single = -1
    case small = 0
    case large = 1

    /// Targets up to which a slice is small: one batch.
    public static let smallLimit = 1_000
    /// Targets up to which a slice is single.
    public static let singleLimit = 8

    public static func < (left: SliceWeight, right: SliceWeight) -> Bool { left.rawValue < right.rawValue }
}
