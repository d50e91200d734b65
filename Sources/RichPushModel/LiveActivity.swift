/// The names under which the server adds its own to what an app defines. Types of the app declare them to read them, or leave them out.
public enum ActivityKey {
    /// In the attributes: the number of the activity.
    public static let id = "clarionActivity"
    /// In the content state: which revision it is. It makes equal states differ, so that the system draws them.
    public static let revision = "clarionRevision"
    /// In the content state, where the backend puts it: the id of a rich notification whose picture the activity shows.
    public static let picture = "clarionPicture"
    /// In the attributes, where the backend puts it: the number of an activity that ends on each device which shows this one.
    public static let replaces = "clarionReplaces"
}

/// The JSON body of `POST /api/v1/activities`: starts a Live Activity on the devices of an audience.
public struct ActivityRequest: Hashable, Sendable, Codable {
    /// The name of the app's type of attributes, exactly as the device reports it.
    public var attributesType: String
    /// What stays the same while the activity lives: an object that the app decodes.
    public var attributes: JSONValue?
    /// What changes: an object that the app decodes.
    public var state: JSONValue
    /// A tag expression; absent means the caller's own devices.
    public var audience: String?
    /// What the start shows. iOS drops a start without an alert.
    public var alert: ActivityAlert?
    /// When the system marks the activity as out of date unless an update came; milliseconds since 1970.
    public var staleAt: Timestamp?
    /// Which of several activities of an app comes first; the highest does.
    public var relevance: Double?
    /// `push`, or `app`: then the app starts the activity itself, with the number that the answer has. Absent means `push`.
    public var start: String?
    /// `tokens`: each device gets pushes of its own; or `channel`: one push reaches all devices that follow, from iOS 18 on. Absent means
    /// `tokens`, or `channel` with a `channel`.
    public var delivery: String?
    /// The number of a channel that exists. Absent with `channel` makes one that lasts as long as the activity.
    public var channel: Int64?

    /// Creates a request.
    public init(attributesType: String, attributes: JSONValue? = nil, state: JSONValue, audience: String? = nil) {
        self.attributesType = attributesType
        self.attributes = attributes
        self.state = state
        self.audience = audience
    }
}

/// What a start shows, and what an update that is worth a look shows.
public struct ActivityAlert: Hashable, Sendable, Codable {
    public var title: String
    public var body: String
    /// The name of a sound of the app, or `default`; absent means none.
    public var sound: String?

    /// Creates an alert.
    public init(title: String, body: String, sound: String? = nil) {
        self.title = title
        self.body = body
        self.sound = sound
    }
}

/// The JSON body of `PATCH /api/v1/activities/{id}`: another state, or the end. What it does not name stays as it was.
public struct ActivityChange: Hashable, Sendable, Codable {
    /// Replaces the state. Absent leaves it as it is.
    public var state: JSONValue?
    /// Lights the screen and opens the Dynamic Island for this change.
    public var alert: ActivityAlert?
    /// Replaces the moment; `.some(nil)`, in JSON `null`, removes it. `nil`, in JSON absent, leaves it as it is until it has passed.
    public var staleAt: Timestamp??
    /// Replaces the relevance; `.some(nil)`, in JSON `null`, removes it. `nil`, in JSON absent, leaves it as it is.
    public var relevance: Double??
    /// 10 sends the update at once, from a budget that iOS keeps small; 5 lets the system choose the moment. Absent means 5, or 10 with
    /// an alert. Of 10, ten leave at once and one every two minutes; the others leave with 5.
    public var priority: Int?
    /// Whether the activity ends with this change.
    public var end: Bool?
    /// With `end`: when the system removes it from the lock screen. Absent means four hours later at most, a moment in the past at once.
    public var dismissAt: Timestamp?

    /// Creates a change.
    public init(state: JSONValue? = nil) { self.state = state }

    /// Reads a change, in which `null` is another thing than an absent field for what can be removed.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        state = try fields.decodeIfPresent(JSONValue.self, forKey: .state)
        alert = try fields.decodeIfPresent(ActivityAlert.self, forKey: .alert)
        if fields.contains(.staleAt) { staleAt = .some(try fields.decodeIfPresent(Timestamp.self, forKey: .staleAt)) }
        if fields.contains(.relevance) { relevance = .some(try fields.decodeIfPresent(Double.self, forKey: .relevance)) }
        priority = try fields.decodeIfPresent(Int.self, forKey: .priority)
        end = try fields.decodeIfPresent(Bool.self, forKey: .end)
        dismissAt = try fields.decodeIfPresent(Timestamp.self, forKey: .dismissAt)
    }
}

/// A Live Activity as its sender and administrators see it.
public struct ActivityStatus: Hashable, Sendable, Codable {
    public var id: Int64
    public var attributesType: String
    public var attributes: JSONValue?
    public var state: JSONValue
    public var audience: String
    public var sender: String
    /// `active`, or `ended`.
    public var phase: String
    /// Counts the changes, from 1.
    public var revision: Int64
    /// The latest revision that was handed to APNs. What comes within a second of another change is skipped.
    public var sentRevision: Int64
    public var staleAt: Timestamp?
    public var createdAt: Timestamp
    /// When the system ends it in any case: eight hours after its start.
    public var endsAt: Timestamp
    public var endedAt: Timestamp?
    /// How many devices report the activity in each state: `starting` while there is no token yet, `active`, `stale`.
    public var followers: [String: Int]
    /// What became of the pushes that started it, by outcome; absent where the app starts it.
    public var started: [String: Int]?
    /// The same for the latest update; absent on a channel, where Apple does not say whom it reached.
    public var updated: [String: Int]?
    /// The channel that it lives on; absent where each device gets pushes of its own.
    public var channel: Int64?
    /// The id of that channel at APNs, with which an app that starts the activity itself follows it.
    public var apnsChannel: String?
    /// How many updates that asked for priority 10 left with 5, because iOS was likely to hold them back.
    public var demoted: Int?
    /// Why the latest attempt to send failed.
    public var fault: String?

    /// Creates a status; what is not named here is absent until it is set.
    public init(
        id: Int64, attributesType: String, state: JSONValue, audience: String, sender: String, phase: String, revision: Int64,
        sentRevision: Int64, createdAt: Timestamp, endsAt: Timestamp, followers: [String: Int] = [:]
    ) {
        self.id = id
        self.attributesType = attributesType
        self.state = state
        self.audience = audience
        self.sender = sender
        self.phase = phase
        self.revision = revision
        self.sentRevision = sentRevision
        self.createdAt = createdAt
        self.endsAt = endsAt
        self.followers = followers
    }
}

/// A page of activities, newest first.
public struct ActivityList: Hashable, Sendable, Codable {
    public var activities: [ActivityStatus]
    /// The `before` of the next page; absent on the last.
    public var next: String?

    /// Creates a page.
    public init(activities: [ActivityStatus], next: String? = nil) {
        self.activities = activities
        self.next = next
    }
}

/// The JSON body of `POST /api/v1/reloads`: makes widgets or controls read their data again.
public struct ReloadRequest: Hashable, Sendable, Codable {
    /// `widgets` (iOS 26): all of the app; or `controls` (iOS 18): all that the user has placed.
    public var what: String
    /// A tag expression; absent means the caller's own devices.
    public var audience: String?

    /// Creates a request.
    public init(what: String, audience: String? = nil) { (self.what, self.audience) = (what, audience) }
}

/// The answer to a `ReloadRequest`.
public struct ReloadAnswer: Hashable, Sendable, Codable {
    /// The hub's id of the send. Requests that became one push have the same.
    public var id: String
    /// When the push leaves.
    public var dueAt: Timestamp

    /// Creates an answer.
    public init(id: String, dueAt: Timestamp) { (self.id, self.dueAt) = (id, dueAt) }
}

/// The JSON body of `POST /api/v1/channels`: creates a broadcast channel that stays until it is removed.
public struct ChannelRequest: Hashable, Sendable, Codable {
    /// What its owner calls it.
    public var name: String?
    /// `latest`: a device that follows later, or was offline, gets the latest push; or `none`, which Apple grants more updates. Absent means
    /// `latest`.
    public var storage: String?

    /// Creates a request.
    public init(name: String? = nil, storage: String? = nil) { (self.name, self.storage) = (name, storage) }
}

/// A channel as its owner and administrators see it.
public struct ChannelStatus: Hashable, Sendable, Codable {
    public var id: Int64
    public var name: String?
    /// The id at APNs, which an app gives to ActivityKit to follow the channel.
    public var apnsChannel: String
    /// `latest`, or `none`.
    public var storage: String
    public var createdAt: Timestamp
    /// When it is deleted, unless an activity lives on it then; absent for one that stays.
    public var removeAt: Timestamp?
    /// The activity that lives on it now.
    public var activity: Int64?

    /// Creates a status; what is not named here is absent until it is set.
    public init(id: Int64, apnsChannel: String, storage: String, createdAt: Timestamp) {
        self.id = id
        self.apnsChannel = apnsChannel
        self.storage = storage
        self.createdAt = createdAt
    }
}

/// A page of channels, newest first.
public struct ChannelList: Hashable, Sendable, Codable {
    public var channels: [ChannelStatus]
    /// The `before` of the next page; absent on the last.
    public var next: String?

    /// Creates a page.
    public init(channels: [ChannelStatus], next: String? = nil) { (self.channels, self.next) = (channels, next) }
}

/// The channels that the app has at APNs and that this server did not create.
public struct OtherChannelList: Hashable, Sendable, Codable {
    public var apnsChannels: [String]

    /// Creates a list.
    public init(apnsChannels: [String]) { self.apnsChannels = apnsChannels }
}

/// The JSON body of `PUT /api/v1/installations/{id}/activities`: what the device knows of its Live Activities and tokens.
public struct ActivityReport: Hashable, Sendable, Codable {
    /// One activity on the device.
    public struct Entry: Hashable, Sendable, Codable {
        /// The number that the attributes carry.
        public var id: Int64
        /// `active`, `stale`, `ended` or `dismissed`, as the system reports it.
        public var state: String
        /// The update token in hexadecimal; absent while the system has given none. What was reported before stays.
        public var token: String?
        /// Which revision the device shows, if it knows.
        public var revision: Int64?

        /// Creates an entry.
        public init(id: Int64, state: String, token: String? = nil, revision: Int64? = nil) {
            self.id = id
            self.state = state
            self.token = token
            self.revision = revision
        }
    }

    /// The tokens that start activities, in hexadecimal, by type of attributes. A type that is not named keeps its token.
    public var startTokens: [String: String]
    /// All activities on the device: those that are not named have ended.
    public var activities: [Entry]
    /// The token that reloads the widgets of the app; absent leaves it as it is.
    public var widgetToken: String?
    /// The tokens of all controls that the user has placed, by name; absent leaves them as they are.
    public var controlTokens: [String: String]?
    /// Whether the user lets the app have Live Activities. Without that its start tokens are worth nothing.
    public var enabled: Bool?
    /// Whether the user lets them have frequent updates.
    public var frequentUpdates: Bool?
    /// The operating system with its version, as in `InstallationUpdate`: start tokens may stop working with an update of it.
    public var systemVersion: String?

    /// Creates a report.
    public init(startTokens: [String: String] = [:], activities: [Entry] = []) {
        self.startTokens = startTokens
        self.activities = activities
    }
}

/// The answer to an `ActivityReport`.
public struct ActivityReportAnswer: Hashable, Sendable, Codable {
    /// Activities of the report that are not this user's, or are over: the device ends them.
    public var ended: [Int64]

    /// Creates an answer.
    public init(ended: [Int64]) { self.ended = ended }
}
