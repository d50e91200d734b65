import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Everything that can be seen of a simulated phone at one moment: what a page needs to draw it, as JSON.
public struct PhoneSnapshot: Hashable, Sendable, Codable {
    public var phone: Identity
    /// What the display shows; the lock screen hides all others.
    public var screen = Screen.home
    public var locked = false
    /// Whether it was not unlocked since it was switched on: what is protected cannot be read yet.
    public var beforeFirstUnlock = false
    /// Whether the app is on the phone.
    public var installed = true
    public var network = Network.online
    /// Whether the user lets apps run on background pushes.
    public var backgroundRefresh = true
    public var permission = Permission.notDetermined
    /// Whether allowed notifications may be seen at all.
    public var alerts = true
    public var focus = false
    public var lowPower = false
    /// Whether it is in Doze; an iPhone never is.
    public var dozing = false
    /// Whether the system counts how often it wakes the app.
    public var wakeBudget = false
    /// The state of the app's process.
    public var process = ProcessState.notRunning
    /// The signed-in user, by the name as the server stored it; while the app does not run, the last one.
    public var user: String?
    public var signIn = Progress()
    /// A message to the user about what the last sign-out could not send, until the next sign-in or the end of the app.
    public var undelivered: String?
    public var sending = Progress()
    /// The number on the app's icon; 0 shows none.
    public var badge = 0
    /// The banner that hangs from the top of the display now.
    public var banner: Notice?
    /// The notification centre, newest first.
    public var notifications: [Notice] = []
    /// The question OK / More that the app asks in the foreground.
    public var alert: Alert?
    /// The content screen, present while `screen` is `content`.
    public var content: Content?
    /// The inbox as the app knows it, newest first.
    public var inbox: [InboxItem] = []
    /// How many notifications the server counts as unread.
    public var unread = 0
    /// Whether a locked phone hides what notifications say.
    public var hidesPreviews = false
    /// Whether the user lets the app show Live Activities.
    public var liveActivities = true
    /// Whether the user lets them have more frequent updates.
    public var frequentActivityUpdates = false
    /// Whether they are there again after a restart.
    public var activitiesSurviveRestart = true
    /// The Live Activities, the most relevant first.
    public var activities: [Activity] = []
    /// The phone's clock.
    public var time: Timestamp

    /// Creates a snapshot of a phone that was just switched on.
    public init(phone: Identity, time: Timestamp) {
        self.phone = phone
        self.time = time
    }

    /// Which phone it is.
    public struct Identity: Hashable, Sendable, Codable {
        /// The id that routes and story steps use.
        public var id: String
        /// The owner's name for it, for example "Alice's phone".
        public var name: String
        /// The model, for display only.
        public var model: String
        /// The user whom the page suggests for signing in; any user may sign in.
        public var owner: String?
        public var system = System.iOS

        /// What runs on it.
        public enum System: String, Sendable, Codable, CaseIterable {
            case iOS = "ios"
            case android
        }

        /// Creates an identity.
        public init(id: String, name: String, model: String, owner: String? = nil, system: System = .iOS) {
            self.system = system
            self.id = id
            self.name = name
            self.model = model
            self.owner = owner
        }
    }

    /// What the display shows.
    public enum Screen: String, Sendable, Codable, CaseIterable {
        case lock, home, signIn, main, content
    }

    public enum Network: String, Sendable, Codable, CaseIterable {
        case online, offline
        /// Every answer takes some seconds.
        case slow
    }

    /// Whether the app may show notifications.
    public enum Permission: String, Sendable, Codable, CaseIterable {
        case granted, denied, notDetermined
    }

    /// The states of an app's process.
    public enum ProcessState: String, Sendable, Codable, CaseIterable {
        /// On the display and receiving input.
        case active
        /// On the display without input: the phone is locked above it, or the notification centre is open.
        case inactive
        /// Runs for a moment without a display.
        case background
        /// In memory, not running.
        case suspended
        /// Never started, or removed by the system.
        case notRunning
        /// Removed by the user: the system does not start it for background pushes until the user does.
        case forceQuit
    }

    /// Something the user waits for.
    public struct Progress: Hashable, Sendable, Codable {
        public var busy = false
        /// Why it failed last time, as a message for the user.
        public var error: String?
        /// Whether it failed because the server took neither the password nor the token.
        public var isRefused = false
    }

    /// One entry of the notification centre.
    public struct Notice: Hashable, Sendable, Codable {
        /// The system's identifier; a later notification with the same one replaces this.
        public var id: String
        /// The rich notification behind it, if the app knows it.
        public var richID: RichID?
        public var title: String
        public var subtitle: String?
        public var body: String
        /// Entries with the same thread form a group.
        public var thread: String?
        public var at: Timestamp
        /// Whether a picture, sound or video came with it; ask the phone for the bytes.
        public var hasAttachment = false
        /// The type of the attachment.
        public var mediaType: String?
        /// The alternative text of the attachment.
        public var altText: String?
        /// The buttons of its category, empty while previews are hidden.
        public var actions: [Action]
        /// The phone is locked and previews are shown only when unlocked: the texts here are the placeholder's.
        public var previewHidden = false

        /// A button.
        public struct Action: Hashable, Sendable, Codable {
            public var id: String
            public var title: String
            /// True for a field in which the user answers; absent for a plain button.
            public var takesText: Bool?
        }

        /// Creates an entry without attachment.
        public init(
            id: String, richID: RichID?, title: String, subtitle: String? = nil, body: String, thread: String? = nil,
            at: Timestamp, actions: [Action] = []
        ) {
            self.id = id
            self.richID = richID
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.thread = thread
            self.at = at
            self.actions = actions
        }

        private enum CodingKeys: String, CodingKey {
            case id, richID = "richId", title, subtitle, body, thread, at, hasAttachment, mediaType, altText, actions
            case previewHidden
        }
    }

    /// One Live Activity. The phone has no app that draws it: it shows the values.
    public struct Activity: Hashable, Sendable, Codable {
        /// What the card shows of its state.
        public enum Phase: String, Sendable, Codable, CaseIterable { case active, stale, ended }

        /// What brings its changes: pushes to its token, pushes over a channel, or none while it has no token.
        public enum Updates: String, Sendable, Codable, CaseIterable { case token, channel, none }

        /// The alert of a push.
        public struct Alert: Hashable, Sendable, Codable {
            public var title: String
            public var body: String
        }

        /// The system's name for it.
        public var id: String
        /// The server's number.
        public var number: Int64?
        /// The name of the app's type of attributes.
        public var type: String
        public var attributes: JSONValue
        public var state: JSONValue
        public var phase: Phase
        /// Whether the card asks the user if it may go on.
        public var asks: Bool
        /// What the newest push with an alert said. A phone shows no words of it: it opens the Dynamic Island.
        public var alert: Alert?
        public var alertedAt: Timestamp?
        /// Which of several comes first: the highest, and of equals the one that started first.
        public var relevance: Double
        public var startedAt: Timestamp
        /// When its content is out of date.
        public var staleAt: Timestamp?
        /// When the system ends it, at the latest; of one that has ended, when its card goes.
        public var changesAt: Timestamp?
        public var updates: Updates
        /// Whether a change waits while the phone saves power.
        public var delayed: Bool
        /// The rich notification whose picture the card shows; absent while it is not on the phone.
        public var picture: RichID?
    }

    /// The question that the app asks instead of a banner while it is in the foreground.
    public struct Alert: Hashable, Sendable, Codable {
        public var richID: RichID
        /// Absent when the sender gave none.
        public var title: String?
        public var subtitle: String?
        public var message: String?

        private enum CodingKeys: String, CodingKey { case richID = "richId", title, subtitle, message }
    }

    /// The content screen.
    public struct Content: Hashable, Sendable, Codable {
        /// How far the screen is.
        public enum State: String, Sendable, Codable, CaseIterable {
            /// Being fetched.
            case loading
            /// On the phone and checked.
            case ready
            /// Not downloaded yet, and it cannot be now; opening it again tries again.
            case missing
            /// Refused: gone, not allowed, or not what the server promised.
            case failed
        }

        public var richID: RichID
        public var kind: ContentKind
        public var title: String?
        public var subtitle: String?
        public var message: String
        public var altText: String?
        /// The name the sender gave the content, for display only.
        public var fileName: String?
        public var mediaType: String?
        /// Whether the phone holds bytes to show; ask it for them.
        public var hasMedia = false
        /// For kind `url`; opened only after the user confirms.
        public var link: String?
        public var coupon: Coupon?
        public var state: State
        /// True when its sender sealed it for this phone; absent for what the server can read.
        public var sealed: Bool?
        /// Why it is not ready, as a message for the user.
        public var error: String?

        /// Creates a screen.
        public init(richID: RichID, kind: ContentKind, title: String? = nil, message: String = "", state: State) {
            self.richID = richID
            self.kind = kind
            self.title = title
            self.message = message
            self.state = state
        }

        private enum CodingKeys: String, CodingKey {
            case richID = "richId", kind, title, subtitle, message, altText, fileName, mediaType, hasMedia, link, coupon, state
            case sealed, error
        }
    }

    /// One line of the inbox.
    public struct InboxItem: Hashable, Sendable, Codable {
        public var id: RichID
        public var kind: ContentKind
        public var title: String?
        public var message: String
        public var sender: String?
        public var sentAt: Timestamp
        public var read: Bool
        /// Whether its content is on the phone, so that it opens without a network.
        public var downloaded: Bool

        /// Creates a line.
        public init(entry: InboxEntry, downloaded: Bool) {
            id = entry.id
            kind = entry.kind
            title = entry.title
            message = entry.message
            sender = entry.sender
            sentAt = entry.sentAt
            read = entry.read
            self.downloaded = downloaded
        }
    }
}

/// Bytes that are on the phone now, exactly as the engine fetched and checked them.
public struct PhoneMedia: Hashable, Sendable {
    /// The type that the server declared and the bytes confirmed.
    public var mediaType: String
    /// A file of the simulated phone. It may vanish when the phone needs room or the user signs out.
    public var file: URL
    /// The sender's file name. Untrusted: for display and, cleaned, for saving, never a path.
    public var fileName: String?
}
