/// The kinds of push (Reference/APNs.md#3-3). Open, because Apple adds kinds.
public struct APNsPushType: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String

    /// Creates a push type from its word on the wire.
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let alert = APNsPushType(rawValue: "alert")
    public static let background = APNsPushType(rawValue: "background")
    public static let location = APNsPushType(rawValue: "location")
    public static let voip = APNsPushType(rawValue: "voip")
    public static let complication = APNsPushType(rawValue: "complication")
    public static let fileprovider = APNsPushType(rawValue: "fileprovider")
    public static let mdm = APNsPushType(rawValue: "mdm")
    public static let liveActivity = APNsPushType(rawValue: "liveactivity")
    public static let pushToTalk = APNsPushType(rawValue: "pushtotalk")
    public static let widgets = APNsPushType(rawValue: "widgets")
    public static let controls = APNsPushType(rawValue: "controls")

    /// Every kind that Apple documents.
    public static let documented: [APNsPushType] = [
        .alert, .background, .location, .voip, .complication, .fileprovider, .mdm, .liveActivity, .pushToTalk, .widgets,
        .controls,
    ]

    /// What follows the bundle id in the topic of this kind; empty for most, `nil` where the topic is no bundle id at all.
    public var topicSuffix: String? {
        switch self {
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .pushToTalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        case .mdm: nil
        default: ""
        }
    }

    /// The topic of this kind for an app: the bundle id with the suffix, unless it has it already (Reference/APNs.md#3-3).
    public func topic(of bundleID: String) -> String {
        guard let suffix = topicSuffix, !suffix.isEmpty, !bundleID.hasSuffix(suffix) else { return bundleID }
        return bundleID + suffix
    }

    /// The largest body in bytes (Reference/APNs.md#3-2).
    public var maximumPayload: Int { self == .voip ? 5120 : 4096 }
}
