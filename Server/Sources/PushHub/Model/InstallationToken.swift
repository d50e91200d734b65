import RichPushModel
import ServiceErrors

/// A device token that an installation has beside its own: APNs moves a Live Activity, a widget or a control with it.
///
/// It is a record of its own, which comes, changes and goes with its installation and has its tags. Its platform is its kind, so that a
/// send never means tokens of two kinds, and a token that APNs calls dead takes nothing else with it.
public struct InstallationToken: Hashable, Sendable {
    /// What APNs does with a push to the token (Reference/LiveActivities.md#2-1 and #4).
    public enum Kind: Hashable, Sendable {
        /// It starts Live Activities of this attributes type.
        case activityStart(type: String)
        /// It updates and ends the Live Activity with this id.
        case activity(id: String)
        /// It reloads all widgets of the app.
        case widgets
        /// It reloads one control.
        case control(String)
    }

    public var kind: Kind
    public var handle: DeviceToken
    /// When the device reported this value: an older 410 no longer counts.
    public var reportedAt: Timestamp

    /// The most tokens of one installation.
    public static let limit = 64

    /// When its record is removed; absent for a token that stays as long as the installation. The token of an activity is of no use once
    /// the system has ended and removed the activity.
    public var expiresAt: Timestamp? {
        if case .activity = kind { reportedAt + Self.activityLife } else { nil }
    }

    private static let activityLife: Duration = .seconds(12 * 3600)

    /// Creates a token.
    public init(_ kind: Kind, handle: DeviceToken, reportedAt: Timestamp) {
        self.kind = kind
        self.handle = handle
        self.reportedAt = reportedAt
    }
}

extension InstallationToken.Kind {
    /// The platform of a send that means tokens of this kind. Start tokens of each attributes type have their own.
    public var platform: Platform {
        switch self {
        case .activityStart(let type): Platform(rawValue: "apns.start:\(type)")
        case .activity: Platform(rawValue: "apns.activity")
        case .widgets: Platform(rawValue: "apns.widgets")
        case .control: Platform(rawValue: "apns.controls")
        }
    }

    /// The tag that only tokens of this Live Activity have: tags of a device that begin like it are left out.
    public static func tag(ofActivity id: String) -> Tag? { Tag(activityPrefix + id) }

    /// The tags of the token's record: those of its installation, and for one of a Live Activity that of the activity.
    func tags(beside tags: [Tag]) -> [Tag] {
        let own: Tag? = if case .activity(let id) = self { Self.tag(ofActivity: id) } else { nil }
        return tags.filter { !$0.folded.hasPrefix(Self.activityPrefix) } + [own].compactMap(\.self)
    }

    /// Distinguishes the token among those of its installation, and is stored: a word, and behind a colon the name if it has one.
    public var stored: String {
        switch self {
        case .activityStart(let type): "start:\(type)"
        case .activity(let id): "activity:\(id)"
        case .widgets: "widgets"
        case .control(let name): "control:\(name)"
        }
    }

    /// Reads what is stored; `nil` for what no version wrote.
    public init?(stored text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("start", let type?): self = .activityStart(type: type)
        case ("activity", let id?): self = .activity(id: id)
        case ("widgets", nil): self = .widgets
        case ("control", let name?): self = .control(name)
        default: return nil
        }
    }

    private static let activityPrefix = "clarion-activity:"

    /// Throws `invalid-field` for a malformed name.
    func check() throws(ServiceError) {
        let name: String? =
            switch self {
            case .activityStart(let name), .activity(let name), .control(let name): name
            case .widgets: nil
            }
        guard let name, !Self.isName(name) else { return }
        throw ServiceError(.invalidField, "the name of a token has 1 to 100 letters, digits and . _ -")
    }

    /// Whether an attributes type, an activity or a control can have this name.
    public static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._-".utf8.contains($0) }
    }
}

extension Platform {
    /// Whether APNs carries its pushes: to the devices themselves, or to one of the kinds of tokens that installations have besides.
    public var isAPNs: Bool { self == .apns || isTokenKind }

    /// Whether it is a kind of `InstallationToken`. Clients of the hub protocol do not see such records.
    public var isTokenKind: Bool { rawValue.utf8.starts(with: "apns.".utf8) }
}
