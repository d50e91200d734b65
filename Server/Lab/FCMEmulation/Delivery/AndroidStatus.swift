import RichPushModel

/// Why a message waits (Reference/FCM.md#6). Where several causes hold, the first of this order is named.
public enum AndroidObstacle: String, Sendable, Hashable, Codable, CaseIterable {
    case notInstalled, offline
    /// The user stopped the app in the settings.
    case forceStopped
    /// The phone was started and not unlocked, and the message is not for direct boot.
    case locked
    /// The message has normal priority, or was demoted to it.
    case doze
}

/// What an app on a simulated device is at one moment. It holds the registration token, as the app does.
public struct AndroidStatus: Sendable, Hashable, Codable {
    /// A message that waits. It expires its `timeToLive` after `sentAt`.
    public struct Waiting: Sendable, Hashable, Codable {
        public var message: AndroidMessage
        public var obstacle: AndroidObstacle
    }

    public var name: String
    public var project: String
    public var package: String
    public var platform: DevicePlatform
    /// `nil` while the app is not installed.
    public var token: String?
    public var fid: String
    public var isOnline: Bool
    public var isDozing: Bool
    public var isForceStopped: Bool
    public var isForeground: Bool
    public var isUnlocked: Bool
    /// In the order of their names.
    public var topics: [String]
    /// In the order of their arrival.
    public var waiting: [Waiting]
    /// What the system shows, oldest first.
    public var shown: [AndroidMessage]
}
