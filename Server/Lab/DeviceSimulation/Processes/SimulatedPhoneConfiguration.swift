import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What makes one simulated phone different from another.
public struct SimulatedPhoneConfiguration: Sendable {
    public var identity: PhoneSnapshot.Identity
    /// The configuration that the app and its extension were built with.
    public var app: RichPushConfiguration
    /// What the app's content cache may hold.
    public var contentLimits = FileContentCache.Limits()
    /// The app's name under its icon.
    public var appName = "Clarion"
    /// The app's bundle id, which is the APNs topic.
    public var bundleID: String
    /// `sandbox` or `production`; absent leaves it to the hub.
    public var environment: String?
    /// The languages of its user, the best first.
    public var languages = ["en"]
    /// The names of the app's types of attributes; without one it has no Live Activities.
    public var activityTypes: [String] = []
    /// Whether the user has put widgets of the app on the home screen.
    public var hasWidgets = false
    /// What the app says of itself.
    public var appVersion = "1.0"
    /// Where the phone keeps what a phone keeps: the app group, the key chain, the system's attachments.
    public var folder: URL
    /// How often the system wakes the app for background pushes; `nil` for no limit, as while debugging.
    public var backgroundWakesPerHour: Int?
    /// What the app and the extension get from the system (Reference/IOSClient.md#3).
    public var backgroundTime: Duration = .seconds(30)
    /// How late an answer is while the network is slow.
    public var slowAnswerDelay: Duration = .seconds(3)
    /// How long before the end of its time the extension is warned.
    public var expiryWarning: Duration = .seconds(1)
    /// The most that the extension's own memory may grow by before the system ends it, in bytes; where extensions run as processes.
    public var extensionMemoryLimit = 24 << 20
    /// The program, `clarion`, that runs the app and the extension as processes of their own, on the machine's clock; absent runs both
    /// in this process, on the phone's.
    public var program: String?
    /// A mistake that the extension's process makes on purpose.
    public var extensionMistake: ExtensionMistake?
    /// Where the story is written too, a line of JSON for each step; the file begins anew at 16 MB.
    public var eventLog: URL?
    /// How long a process lives in the background without a task.
    public var suspensionDelay: Duration = .seconds(5)
    /// How long a banner stays.
    public var bannerTime: Duration = .seconds(6)
    /// What the app's send screen can choose from, by kind. The screen uploads it and then names it in the send.
    public var samples: [ContentKind: Sample] = [:]

    /// A content that the app brings along.
    public struct Sample: Hashable, Sendable {
        public var data: Data
        public var mediaType: String
        public var altText: String
        /// The name it goes under; absent for what has none, such as a photo just taken.
        public var fileName: String?

        /// Creates a sample.
        public init(data: Data, mediaType: String, altText: String, fileName: String? = nil) {
            self.data = data
            self.mediaType = mediaType
            self.altText = altText
            self.fileName = fileName
        }
    }

    /// Creates a configuration with the defaults.
    public init(identity: PhoneSnapshot.Identity, app: RichPushConfiguration, bundleID: String, folder: URL) {
        self.identity = identity
        self.app = app
        self.bundleID = bundleID
        self.folder = folder
    }
}
