import RichPushModel

/// A user action on a simulated phone. As JSON: an object with `name` and the parameters beside it, for example
/// `{"name":"signIn","user":"alice","password":"…"}`.
public enum PhoneAction: Hashable, Sendable {
    case signIn(user: String, password: String)
    /// As an app with accounts of its own signs its user in: the server exchanges the token.
    case signInWithToken(String)
    case signOut
    /// The button "Send push". Without a single parameter it is the rich push tutorial's call without a body.
    case sendPush(PushDraft)
    case home
    /// A tap on the app's icon.
    case openApp
    case lock
    case unlock
    /// The user swipes the app away in the app switcher (force quit).
    case terminate
    /// The system needs the memory and ends the app; the user notices nothing.
    case endApp
    /// The phone is switched off and on: until it is unlocked nothing that is protected can be read.
    case restart
    /// The user removes the app with all it kept; its device token is dead from then on.
    case removeApp
    /// The user installs the app, in place of the one that is there.
    case installApp
    /// The phone is set up from a backup: it has the files of the old device, and not its secrets.
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
    /// An Android phone enters or leaves Doze, with its display off.
    case setDoze(on: Bool)
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
    /// The user confirmed the link on the content screen. The phone has no browser: it only records the step.
    case openLink
    case refreshInbox
    /// The answer to the question on the card of a Live Activity that a push has started. After `always` no card asks again.
    case allowActivity(id: String, always: Bool)
    /// The user swipes a Live Activity off the lock screen.
    case dismissActivity(id: String)
    case setLiveActivities(on: Bool)
    /// The user's switch for more frequent updates of Live Activities.
    case setFrequentActivityUpdates(on: Bool)
    /// Whether Live Activities are there again after a restart of the phone.
    case setActivitiesSurviveRestart(on: Bool)
    /// The user follows something in the app, which then starts a Live Activity itself, as the server described it.
    case startActivity(ActivityStatus)
    /// The system replaces every token of Live Activities, as it does from time to time.
    case rotateActivityTokens

    /// What the user typed before pressing "Send push".
    public struct PushDraft: Hashable, Sendable, Codable {
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

    /// The value of `name`.
    public enum Name: String, Sendable, Codable, CaseIterable {
        case signIn, signInWithToken, signOut, sendPush, home, openApp, lock, unlock, terminate, endApp, restart
        case removeApp, installApp
        case restoreBackup, setNetwork, setConnection, setBackgroundRefresh, setPermission, setAlerts, setFocus, setLowPower
        case setDoze, setWakeBudget
        case setPreviews, tapNotification, moreNotification, dismissNotification, replyNotification, clearNotifications
        case alertOK, alertMore, openInbox, closeContent, openLink, refreshInbox
        case allowActivity, dismissActivity, setLiveActivities, setFrequentActivityUpdates, setActivitiesSurviveRestart
        case startActivity, rotateActivityTokens
    }

    /// The name of this action.
    public var name: Name {
        switch self {
        case .signIn: .signIn
        case .signInWithToken: .signInWithToken
        case .signOut: .signOut
        case .sendPush: .sendPush
        case .home: .home
        case .openApp: .openApp
        case .lock: .lock
        case .unlock: .unlock
        case .terminate: .terminate
        case .endApp: .endApp
        case .restart: .restart
        case .removeApp: .removeApp
        case .installApp: .installApp
        case .restoreBackup: .restoreBackup
        case .setNetwork: .setNetwork
        case .setConnection: .setConnection
        case .setBackgroundRefresh: .setBackgroundRefresh
        case .setPermission: .setPermission
        case .setAlerts: .setAlerts
        case .setFocus: .setFocus
        case .setLowPower: .setLowPower
        case .setDoze: .setDoze
        case .setWakeBudget: .setWakeBudget
        case .setPreviews: .setPreviews
        case .tapNotification: .tapNotification
        case .moreNotification: .moreNotification
        case .dismissNotification: .dismissNotification
        case .replyNotification: .replyNotification
        case .clearNotifications: .clearNotifications
        case .alertOK: .alertOK
        case .alertMore: .alertMore
        case .openInbox: .openInbox
        case .closeContent: .closeContent
        case .openLink: .openLink
        case .refreshInbox: .refreshInbox
        case .allowActivity: .allowActivity
        case .dismissActivity: .dismissActivity
        case .setLiveActivities: .setLiveActivities
        case .setFrequentActivityUpdates: .setFrequentActivityUpdates
        case .setActivitiesSurviveRestart: .setActivitiesSurviveRestart
        case .startActivity: .startActivity
        case .rotateActivityTokens: .rotateActivityTokens
        }
    }
}

extension PhoneAction: Codable {
    private enum Key: String, CodingKey {
        case name, user, password, token, offline, on, connection, permission, whenUnlocked, id, text, always, activity
        case richID = "richId"
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let name = try values.decode(Name.self, forKey: .name)
        if let plain = Self.plain[name] {
            self = plain
            return
        }
        self = name == .sendPush ? .sendPush(try PushDraft(from: decoder)) : try Self.parameterised(name, values)
    }

    /// The actions that need nothing but their name.
    private static let plain: [Name: PhoneAction] = [
        .signOut: .signOut, .home: .home, .openApp: .openApp, .lock: .lock, .unlock: .unlock, .terminate: .terminate,
        .endApp: .endApp, .restart: .restart, .removeApp: .removeApp, .installApp: .installApp, .restoreBackup: .restoreBackup,
        .clearNotifications: .clearNotifications, .alertOK: .alertOK, .alertMore: .alertMore, .closeContent: .closeContent,
        .openLink: .openLink, .refreshInbox: .refreshInbox, .rotateActivityTokens: .rotateActivityTokens,
    ]

    private static func parameterised(_ name: Name, _ values: KeyedDecodingContainer<Key>) throws -> PhoneAction {
        switch name {
        case .signIn:
            .signIn(
                user: try values.decode(String.self, forKey: .user), password: try values.decode(String.self, forKey: .password))
        case .signInWithToken: .signInWithToken(try values.decode(String.self, forKey: .token))
        case .setNetwork: .setNetwork(offline: try values.decode(Bool.self, forKey: .offline))
        case .setConnection: .setConnection(try values.decode(PhoneSnapshot.Network.self, forKey: .connection))
        case .setBackgroundRefresh: .setBackgroundRefresh(on: try values.decode(Bool.self, forKey: .on))
        case .setAlerts: .setAlerts(on: try values.decode(Bool.self, forKey: .on))
        case .setFocus: .setFocus(on: try values.decode(Bool.self, forKey: .on))
        case .setLowPower: .setLowPower(on: try values.decode(Bool.self, forKey: .on))
        case .setDoze: .setDoze(on: try values.decode(Bool.self, forKey: .on))
        case .setWakeBudget: .setWakeBudget(on: try values.decode(Bool.self, forKey: .on))
        case .setPermission: .setPermission(try values.decode(PhoneSnapshot.Permission.self, forKey: .permission))
        case .setPreviews: .setPreviews(whenUnlocked: try values.decode(Bool.self, forKey: .whenUnlocked))
        case .tapNotification: .tapNotification(id: try values.decode(String.self, forKey: .id))
        case .moreNotification: .moreNotification(id: try values.decode(String.self, forKey: .id))
        case .dismissNotification: .dismissNotification(id: try values.decode(String.self, forKey: .id))
        case .replyNotification:
            .replyNotification(
                id: try values.decode(String.self, forKey: .id), text: try values.decode(String.self, forKey: .text))
        case .openInbox: .openInbox(try values.decode(RichID.self, forKey: .richID))
        case .setLiveActivities: .setLiveActivities(on: try values.decode(Bool.self, forKey: .on))
        case .setFrequentActivityUpdates: .setFrequentActivityUpdates(on: try values.decode(Bool.self, forKey: .on))
        case .setActivitiesSurviveRestart: .setActivitiesSurviveRestart(on: try values.decode(Bool.self, forKey: .on))
        case .startActivity: .startActivity(try values.decode(ActivityStatus.self, forKey: .activity))
        case .dismissActivity: .dismissActivity(id: try values.decode(String.self, forKey: .id))
        case .allowActivity:
            .allowActivity(
                id: try values.decode(String.self, forKey: .id), always: try values.decode(Bool.self, forKey: .always))
        default: throw DecodingError.dataCorruptedError(forKey: .name, in: values, debugDescription: "not an action")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(name, forKey: .name)
        switch self {
        case .signIn(let user, let password):
            try values.encode(user, forKey: .user)
            try values.encode(password, forKey: .password)
        case .signInWithToken(let token): try values.encode(token, forKey: .token)
        case .sendPush(let draft): try draft.encode(to: encoder)
        case .setNetwork(let offline): try values.encode(offline, forKey: .offline)
        case .setConnection(let connection): try values.encode(connection, forKey: .connection)
        case .setBackgroundRefresh(let on), .setAlerts(let on), .setFocus(let on), .setLowPower(let on), .setDoze(let on),
            .setWakeBudget(let on), .setLiveActivities(let on), .setFrequentActivityUpdates(let on),
            .setActivitiesSurviveRestart(let on):
            try values.encode(on, forKey: .on)
        case .setPermission(let permission): try values.encode(permission, forKey: .permission)
        case .setPreviews(let whenUnlocked): try values.encode(whenUnlocked, forKey: .whenUnlocked)
        case .tapNotification(let id), .moreNotification(let id), .dismissNotification(let id), .dismissActivity(let id):
            try values.encode(id, forKey: .id)
        case .replyNotification(let id, let text):
            try values.encode(id, forKey: .id)
            try values.encode(text, forKey: .text)
        case .openInbox(let richID): try values.encode(richID, forKey: .richID)
        case .startActivity(let activity): try values.encode(activity, forKey: .activity)
        case .allowActivity(let id, let always):
            try values.encode(id, forKey: .id)
            try values.encode(always, forKey: .always)
        default: break
        }
    }
}

/// Why a phone did not do what it was asked. What the user would see of a failure (a wrong password, no network) is in the
/// snapshot instead.
public enum PhoneActionError: Error, Hashable, Sendable {
    /// There is nothing on the display that this action could touch, for example a tap on a notification that is gone.
    case notPossible(String)

    /// Human-readable.
    public var sentence: String {
        switch self {
        case .notPossible(let reason): reason
        }
    }
}
