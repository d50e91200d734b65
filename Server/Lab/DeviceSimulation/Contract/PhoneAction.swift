import RichPushModel

/// What a person does with a simulated phone. As JSON: an object with `name` and the parameters beside it, for example
/// `{"name":"signIn","user":"alice","password":"…"}`.
public enum PhoneAction: Hashable, Sendable {
    case signIn(user: String, password: String)
    case signOut
    /// The button "Send push". Without a single parameter it is the rich push tutorial's call without a body.
    case sendPush(PushDraft)
    case home
    /// A tap on the app's icon.
    case openApp
    case lock
    case unlock
    /// The user throws the app out of the app switcher (force quit).
    case terminate
    /// The system needs the memory and ends the app; the user notices nothing.
    case endApp
    /// The phone is switched off and on: until it is unlocked nothing that is protected can be read.
    case restart
    /// The user removes the app with all it kept; its device token is dead from then on.
    case removeApp
    /// The user installs the app, in place of the one that is there.
    case installApp
    /// The phone is set up anew from a backup: files came along, secrets of the old device did not.
    case restoreBackup
    case setNetwork(offline: Bool)
    /// As above, with one more choice: a network that answers late.
    case setConnection(PhoneSnapshot.Network)
    case setBackgroundRefresh(on: Bool)
    case setPermission(PhoneSnapshot.Permission)
    /// Whether allowed notifications may be seen at all; without, only the number on the icon changes.
    case setAlerts(on: Bool)
    /// A Focus keeps banners and sounds away; what comes waits in the notification centre.
    case setFocus(on: Bool)
    case setLowPower(on: Bool)
    /// Whether the system counts how often it wakes the app.
    case setWakeBudget(on: Bool)
    /// Whether a locked phone hides what notifications say.
    case setPreviews(whenUnlocked: Bool)
    /// A tap on a banner or an entry of the notification centre.
    case tapNotification(id: String)
    /// Its button "More".
    case moreNotification(id: String)
    case dismissNotification(id: String)
    /// What the user types into the field of a notification.
    case replyNotification(id: String, text: String)
    case clearNotifications
    case alertOK
    case alertMore
    case openInbox(RichID)
    case closeContent
    /// The user confirmed the link on the content screen. The phone has no browser: it only tells the story.
    case openLink
    case refreshInbox

    /// What the user typed before pressing "Send push".
    public struct PushDraft: Hashable, Sendable {
        public var style: DeliveryStyle?
        public var audience: String?
        public var message: String?
        public var title: String?
        public var kind: ContentKind?

        /// Creates a draft; without a parameter it stands for the rich push tutorial's call without a body.
        public init(
            style: DeliveryStyle? = nil, audience: String? = nil, message: String? = nil, title: String? = nil,
            kind: ContentKind? = nil
        ) {
            self.style = style
            self.audience = audience
            self.message = message
            self.title = title
            self.kind = kind
        }

        /// Whether nothing was typed or chosen.
        public var isEmpty: Bool { self == PushDraft() }
    }
}
