import RichPushModel

/// What a person does with a simulated phone. As JSON: an object with `name` and the parameters beside it, for example
/// `{"name":"signIn","user":"alice","password":"…"}`.
public enum PhoneAction: Hashable, Sendable {
    case signIn(user: String, password: String)
    case signOut
    /// The button "Send push". Without a single parameter it is the tutorial's call without a body.
    case sendPush(PushDraft)
    case home
    /// A tap on the app's icon.
    case openApp
    case lock
    case unlock
    /// The user throws the app out of the app switcher (force quit).
    case terminate
    case setNetwork(offline: Bool)
    case setBackgroundRefresh(on: Bool)
    case setPermission(PhoneSnapshot.Permission)
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

        /// Creates a draft; without a parameter it stands for the tutorial's call without a body.
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
