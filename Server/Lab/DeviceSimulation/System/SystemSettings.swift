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
