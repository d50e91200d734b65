import RichPushModel

extension PhoneAction {
    /// The word in `name`.
    public enum Name: String, Sendable, Codable, CaseIterable {
        case signIn, signOut, sendPush, home, openApp, lock, unlock, terminate, endApp, restart, removeApp, installApp
        case restoreBackup, setNetwork, setConnection, setBackgroundRefresh, setPermission, setAlerts, setFocus, setLowPower
        case setWakeBudget
        case setPreviews, tapNotification, moreNotification, dismissNotification, replyNotification, clearNotifications
        case alertOK, alertMore, openInbox, closeContent, openLink, refreshInbox
    }

    /// The word of this action.
    public var name: Name {
        switch self {
        case .signIn: .signIn
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
        }
    }
}

extension PhoneAction: Codable {
    private enum Key: String, CodingKey {
        case name, user, password, style, audience, message, title, kind, offline, on, connection, permission
        case whenUnlocked, id, text
        case richID = "richId"
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let name = try values.decode(Name.self, forKey: .name)
        if let plain = Self.plain[name] {
            self = plain
            return
        }
        self = try Self.parameterised(name, values)
    }

    /// The actions that need nothing but their name.
    private static let plain: [Name: PhoneAction] = [
        .signOut: .signOut, .home: .home, .openApp: .openApp, .lock: .lock, .unlock: .unlock, .terminate: .terminate,
        .endApp: .endApp, .restart: .restart, .removeApp: .removeApp, .installApp: .installApp, .restoreBackup: .restoreBackup,
        .clearNotifications: .clearNotifications, .alertOK: .alertOK, .alertMore: .alertMore, .closeContent: .closeContent,
        .openLink: .openLink, .refreshInbox: .refreshInbox,
    ]

    private static func parameterised(_ name: Name, _ values: KeyedDecodingContainer<Key>) throws -> PhoneAction {
        switch name {
        case .signIn:
            .signIn(
                user: try values.decode(String.self, forKey: .user), password: try values.decode(String.self, forKey: .password))
        case .sendPush: .sendPush(try draft(values))
        case .setNetwork: .setNetwork(offline: try values.decode(Bool.self, forKey: .offline))
        case .setConnection: .setConnection(try values.decode(PhoneSnapshot.Network.self, forKey: .connection))
        case .setBackgroundRefresh: .setBackgroundRefresh(on: try values.decode(Bool.self, forKey: .on))
        case .setAlerts: .setAlerts(on: try values.decode(Bool.self, forKey: .on))
        case .setFocus: .setFocus(on: try values.decode(Bool.self, forKey: .on))
        case .setLowPower: .setLowPower(on: try values.decode(Bool.self, forKey: .on))
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
        default: throw DecodingError.dataCorruptedError(forKey: .name, in: values, debugDescription: "not an action")
        }
    }

    private static func draft(_ values: KeyedDecodingContainer<Key>) throws -> PushDraft {
        PushDraft(
            style: try values.decodeIfPresent(DeliveryStyle.self, forKey: .style),
            audience: try values.decodeIfPresent(String.self, forKey: .audience),
            message: try values.decodeIfPresent(String.self, forKey: .message),
            title: try values.decodeIfPresent(String.self, forKey: .title),
            kind: try values.decodeIfPresent(ContentKind.self, forKey: .kind))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(name, forKey: .name)
        switch self {
        case .signIn(let user, let password):
            try values.encode(user, forKey: .user)
            try values.encode(password, forKey: .password)
        case .sendPush(let draft):
            try values.encodeIfPresent(draft.style, forKey: .style)
            try values.encodeIfPresent(draft.audience, forKey: .audience)
            try values.encodeIfPresent(draft.message, forKey: .message)
            try values.encodeIfPresent(draft.title, forKey: .title)
            try values.encodeIfPresent(draft.kind, forKey: .kind)
        case .setNetwork(let offline): try values.encode(offline, forKey: .offline)
        case .setConnection(let connection): try values.encode(connection, forKey: .connection)
        case .setBackgroundRefresh(let on), .setAlerts(let on), .setFocus(let on), .setLowPower(let on),
            .setWakeBudget(let on):
            try values.encode(on, forKey: .on)
        case .setPermission(let permission): try values.encode(permission, forKey: .permission)
        case .setPreviews(let whenUnlocked): try values.encode(whenUnlocked, forKey: .whenUnlocked)
        case .tapNotification(let id), .moreNotification(let id), .dismissNotification(let id):
            try values.encode(id, forKey: .id)
        case .replyNotification(let id, let text):
            try values.encode(id, forKey: .id)
            try values.encode(text, forKey: .text)
        case .openInbox(let richID): try values.encode(richID, forKey: .richID)
        default: break
        }
    }
}
