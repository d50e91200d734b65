import RichPushDevice

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operating system remembers of the app over a restart of the phone: the user's answers, the registered buttons, the
/// number on the icon and its user. What was delivered lies in a `NoticeFile`.
struct SystemMemory: Hashable, Sendable {
    struct Category: Hashable, Sendable, Codable {
        var identifier: String
        var actions: [PhoneSnapshot.Notice.Action]
        var reportsDismissal: Bool
        var hiddenPreviewText: String

        init(_ category: NotificationCategory) {
            identifier = category.identifier
            actions = category.actions.map {
                .init(id: $0.identifier, title: $0.title, takesText: $0.takesText ? true : nil)
            }
            (reportsDismissal, hiddenPreviewText) = (category.reportsDismissal, category.hiddenPreviewText)
        }
    }

    /// Its name in the folder of a phone.
    static let fileName = "system.json"

    var settings = SystemSettings()
    var categories: [Category] = []
    var isInstalled = true
    /// The number on the icon.
    var badge = 0
    /// The user who was signed in when the app ran last. A real system does not know it; the phone page shows it.
    var user: String?
    /// The registration token that the app of an Android phone had last.
    var token: String?

    /// Reads it; a file that is missing or broken is as good as a new phone.
    static func read(_ file: URL) -> SystemMemory {
        (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(SystemMemory.self, from: $0) } ?? SystemMemory()
    }

    func write(_ file: URL) { try? JSONEncoder().encode(self).write(to: file, options: .atomic) }
}

extension SystemMemory: Codable {
    private enum Key: String, CodingKey { case categories, installed, badge, user, token }

    /// The settings stand beside the rest, as they always did.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        settings = try SystemSettings(from: decoder)
        categories = try values.decodeIfPresent([Category].self, forKey: .categories) ?? []
        isInstalled = try values.decodeIfPresent(Bool.self, forKey: .installed) ?? true
        badge = try values.decodeIfPresent(Int.self, forKey: .badge) ?? 0
        user = try values.decodeIfPresent(String.self, forKey: .user)
        token = try values.decodeIfPresent(String.self, forKey: .token)
    }

    func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder)
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(categories, forKey: .categories)
        try values.encode(isInstalled, forKey: .installed)
        try values.encode(badge, forKey: .badge)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(token, forKey: .token)
    }
}

/// What the user has chosen in the phone's settings. It outlives a restart.
struct SystemSettings: Hashable, Sendable {
    var permission = PhoneSnapshot.Permission.notDetermined
    /// Whether allowed notifications may be seen; without, only the number on the icon changes.
    var alerts = true
    var focus = false
    var backgroundRefresh = true
    var lowPower = false
    /// Whether a locked phone hides what notifications say.
    var hidesPreviews = false
    /// Whether the system counts how often it wakes the app; absent means as the phone was made.
    var wakeBudget: Bool?
}

extension SystemSettings: Codable {
    private enum Key: String, CodingKey { case permission, alerts, focus, backgroundRefresh, lowPower, hidesPreviews, wakeBudget }

    /// Reads what there is; an older phone chose less.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        permission = try values.decodeIfPresent(PhoneSnapshot.Permission.self, forKey: .permission) ?? permission
        alerts = try values.decodeIfPresent(Bool.self, forKey: .alerts) ?? alerts
        focus = try values.decodeIfPresent(Bool.self, forKey: .focus) ?? focus
        backgroundRefresh = try values.decodeIfPresent(Bool.self, forKey: .backgroundRefresh) ?? backgroundRefresh
        lowPower = try values.decodeIfPresent(Bool.self, forKey: .lowPower) ?? lowPower
        hidesPreviews = try values.decodeIfPresent(Bool.self, forKey: .hidesPreviews) ?? hidesPreviews
        wakeBudget = try values.decodeIfPresent(Bool.self, forKey: .wakeBudget)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(permission, forKey: .permission)
        try values.encode(alerts, forKey: .alerts)
        try values.encode(focus, forKey: .focus)
        try values.encode(backgroundRefresh, forKey: .backgroundRefresh)
        try values.encode(lowPower, forKey: .lowPower)
        try values.encode(hidesPreviews, forKey: .hidesPreviews)
        try values.encodeIfPresent(wakeBudget, forKey: .wakeBudget)
    }
}

extension PhoneSnapshot.Permission {
    /// What the system says to the app.
    var answer: NotificationPermission {
        switch self {
        case .granted: .granted
        case .denied: .denied
        case .notDetermined: .notDetermined
        }
    }
}
