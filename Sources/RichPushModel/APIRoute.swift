/// The paths of the app backend, written once for server and phone. Ids are already validated, so nothing is escaped.
public enum APIRoute {
    /// Everything but the rich push tutorial's frozen calls is described under this prefix; `/api` serves the same.
    public static let prefix = "/api/v1"

    /// `POST` sends, `GET` lists the inbox.
    public static let notifications = prefix + "/notifications"
    /// `GET` and `HEAD`: the content bytes; `PATCH`: read state; `DELETE`: recall.
    public static func notification(_ id: RichID) -> String { "\(notifications)/\(id)" }
    /// `GET`: the `InboxEntry`.
    public static func details(_ id: RichID) -> String { "\(notifications)/\(id)/details" }
    /// `GET`: the `SendStatus`, for the sender.
    public static func status(_ id: RichID) -> String { "\(notifications)/\(id)/status" }
    /// `GET`: a `SendList`, of the caller's sends or, for an administrator, of all.
    public static let sends = prefix + "/sends"
    /// `GET`: the `SendDetails`, with the devices that got no push in pages.
    public static func send(_ id: RichID) -> String { "\(sends)/\(id)" }
    /// `POST`: an `AudienceCount` of the audience in the body.
    public static let audienceCount = prefix + "/audiences/count"
    /// `POST`: a short-lived link to the content for players that cannot send a header.
    public static func ticket(_ id: RichID) -> String { "\(notifications)/\(id)/ticket" }
    /// `POST`: a `Reply`, which goes to the sender of the notification.
    public static func replies(_ id: RichID) -> String { "\(notifications)/\(id)/replies" }
    /// `POST`: a `ReceiptBatch`.
    public static let receipts = prefix + "/receipts"
    /// `POST`: content to be sent later.
    public static let content = prefix + "/content"
    /// `GET`: a `DeviceList`.
    public static let installations = prefix + "/installations"
    /// `PUT`: an `InstallationUpdate`; `DELETE`: signs the installation out.
    public static func installation(_ id: InstallationID) -> String { "\(installations)/\(id)" }
    /// `PUT`: an `ActivityReport`.
    public static func activityReport(_ id: InstallationID) -> String { "\(installation(id))/activities" }
    /// `POST` starts a Live Activity, `GET` lists them.
    public static let activities = prefix + "/activities"
    /// `GET`: the `ActivityStatus`; `PATCH` changes it; `DELETE` ends it.
    public static func activity(_ id: Int64) -> String { "\(activities)/\(id)" }
    /// `POST`: a `ReloadRequest`.
    public static let reloads = prefix + "/reloads"
    /// `POST` creates a broadcast channel, `GET` lists them.
    public static let channels = prefix + "/channels"
    /// One channel.
    public static func channel(_ id: Int64) -> String { "\(channels)/\(id)" }
    /// Channels that the server did not create.
    public static let otherChannels = channels + "/others"
    /// `GET`: a `SealingDirectory`, what a sender needs to seal for some users.
    public static let sealing = prefix + "/sealing"
    /// `GET`: the signed-in user.
    public static let me = prefix + "/me"
}

/// The body of every error answer of `/api` (RFC 9457, `application/problem+json`).
public struct Problem: Error, Hashable, Sendable, Codable {
    /// A link to the page that explains the code.
    public var type: String
    /// The same sentence for every error of this code.
    public var title: String
    /// The HTTP status.
    public var status: Int
    /// What was wrong this time, and where. Never a secret, a token or content.
    public var detail: String?
    /// The stable code for programs, for example `bad-audience`.
    public var code: String

    /// Creates a problem.
    public init(type: String, title: String, status: Int, detail: String?, code: String) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code
    }
}

/// The answer to `GET /api/v1/sealing?users=alice,bob`: the keys to seal for, and the number to seal under.
///
/// A sender that seals for these keys trusts the server to name the right ones. A sender that does not trust it takes the keys from
/// elsewhere and only the number from here.
public struct SealingDirectory: Hashable, Sendable, Codable {
    /// The public key of one installation.
    public struct Key: Hashable, Sendable, Codable {
        public var installation: InstallationID
        /// The user whose installation it is.
        public var user: String
        /// Base64 of 32 bytes (X25519).
        public var key: String
        /// When the installation was bound as it is now; its key is at least as old.
        public var since: Timestamp

        /// Creates an entry.
        public init(installation: InstallationID, user: String, key: String, since: Timestamp) {
            self.installation = installation
            self.user = user
            self.key = key
            self.since = since
        }
    }

    /// The number for the next sealed send. It is not reserved: a send that comes too late gets 409.
    public var number: RichID
    /// Installations that are signed in and open sealed content, by user and installation.
    public var keys: [Key]

    /// Creates an answer.
    public init(number: RichID, keys: [Key]) {
        self.number = number
        self.keys = keys
    }
}
