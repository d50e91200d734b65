import RichPushModel

/// Everything that can be seen of a simulated phone at one moment: what a page needs to draw it, as JSON.
public struct PhoneSnapshot: Hashable, Sendable, Codable {
    public var phone: Identity
    /// What the display shows; the lock screen hides all others.
    public var screen: Screen
    public var locked: Bool
    /// Whether it was not unlocked since it was switched on: what is protected cannot be read yet.
    public var beforeFirstUnlock: Bool
    /// Whether the app is on the phone.
    public var installed: Bool
    public var network: Network
    /// Whether the user lets apps run on background pushes.
    public var backgroundRefresh: Bool
    public var permission: Permission
    /// Whether allowed notifications may be seen at all.
    public var alerts: Bool
    public var focus: Bool
    public var lowPower: Bool
    /// Whether the system counts how often it wakes the app.
    public var wakeBudget: Bool
    /// The state of the app's process.
    public var process: ProcessState
    /// The signed-in user, by the name as the server stored it; while the app does not run, who it was when it ran last.
    public var user: String?
    public var signIn: Progress
    /// What the last sign-out could not send any more, in words for the user, until somebody signs in or the app ends.
    public var undelivered: String?
    public var sending: Progress
    /// The number on the app's icon; 0 shows none.
    public var badge: Int
    /// The banner that hangs from the top of the display now.
    public var banner: Notice?
    /// The notification centre, newest first.
    public var notifications: [Notice]
    /// The question OK / More that the app asks in the foreground.
    public var alert: Alert?
    /// The content screen, present while `screen` is `content`.
    public var content: Content?
    /// The inbox as the app knows it, newest first.
    public var inbox: [InboxItem]
    /// How many notifications the server counts as unread.
    public var unread: Int
    /// Whether a locked phone hides what notifications say.
    public var hidesPreviews: Bool
    /// The phone's clock.
    public var time: Timestamp

    /// Creates a snapshot of a phone that was just switched on.
    public init(phone: Identity, time: Timestamp) {
        self.phone = phone
        self.time = time
        screen = .home
        locked = false
        beforeFirstUnlock = false
        installed = true
        network = .online
        backgroundRefresh = true
        permission = .notDetermined
        alerts = true
        focus = false
        lowPower = false
        wakeBudget = false
        process = .notRunning
        signIn = Progress()
        sending = Progress()
        badge = 0
        hidesPreviews = false
        notifications = []
        inbox = []
        unread = 0
    }
}
