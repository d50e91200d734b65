import RichPushModel

/// A message as an app on Android gets it: what `RemoteMessage` says there (Reference/FCM.md#6).
public struct AndroidMessage: Sendable, Hashable, Codable {
    /// `projects/…/messages/…` without what stands before the id.
    public var id: String
    /// The number of the project, or `/topics/` and a name.
    public var from: String
    public var data: [String: String]
    /// What the sender wants to be shown; `nil` for a message of data alone.
    public var notification: JSONValue?
    public var collapseKey: String?
    /// What the sender asked for, and what it was delivered with.
    public var hasHighOriginalPriority, hasHighPriority: Bool
    public var sentAt: Timestamp
    /// In milliseconds.
    public var timeToLive: Int64
}

/// Something that happens on a simulated phone.
public enum AndroidEvent: Sendable, Hashable, Codable {
    /// `onMessageReceived`.
    case message(AndroidMessage)
    /// The system shows a message of an app in the background. Its data reach the app with the tap.
    case shown(AndroidMessage), opened(AndroidMessage)
    /// `onNewToken`.
    case newToken(String)
    /// `onDeletedMessages`.
    case deletedMessages
}

/// What a user or the system does with a simulated phone.
public enum AndroidAction: String, Sendable, Hashable, Codable, CaseIterable {
    case goOnline, goOffline
    /// Doze holds messages of normal priority back, but for a maintenance window.
    case enterDoze, leaveDoze, openMaintenanceWindow
    /// The user stops the app in the settings. It gets nothing until it is opened.
    case forceStop
    /// The app comes to the foreground, or leaves it.
    case openApp, leaveApp
    /// The phone starts: until it is unlocked, only apps for direct boot get something.
    case restart, unlock
    /// The app has shown a notification. Without one, high priority is lost over time.
    case showNotification
    /// The app gets another registration token; with `install` another installation id, too.
    case renewToken, uninstall, install
    /// The phone was last seen before the days of `LocalFCMQuotas.inactiveDays`.
    case neglect
}

/// A message for one device, and what became of it.
public struct FCMDeliveryRecord: Sendable, Hashable, Codable {
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// It waits: the device is away, in Doze, locked, or its app was stopped.
        case stored
        case delivered
        /// A message with the same key took its place, or it was one key too many.
        case collapsed
        case expired
        /// Too many waited.
        case dropped
        /// With a time to live of zero it is now or never.
        case missed
        case uninstalled
    }

    public var messageID, device: String
    public var state: State
    /// When it came to this state.
    public var at: Timestamp
}

/// Why a message waits (Reference/FCM.md#6). Where several causes hold, the first of this order is named.
public enum AndroidObstacle: String, Sendable, Hashable, Codable, CaseIterable {
    case notInstalled, offline, forceStopped
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

    public var name, project, package: String
    public var platform: DevicePlatform
    /// `nil` while the app is not installed.
    public var token: String?
    public var fid: String
    public var isOnline, isDozing, isForceStopped, isForeground, isUnlocked: Bool
    /// In the order of their names.
    public var topics: [String]
    /// In the order of their arrival.
    public var waiting: [Waiting]
    /// What the system shows, oldest first.
    public var shown: [AndroidMessage]
}
