/// What an app's set-up looks like from inside, gathered by `RichPushClient.diagnose()`.
public struct SetupFacts: Hashable, Sendable {
    /// Whether the App Group's folder can be reached: `nil` when the configuration names no group.
    public var hasAppGroup: Bool?
    /// Whether a secret can be written where app and extension share it, and read again.
    public var hasSharedKeychain = true
    /// Whether the app carries a notification service extension.
    public var hasServiceExtension = true
    /// Whether the Info.plist has `remote-notification` under `UIBackgroundModes`.
    public var hasRemoteNotificationMode = true
    /// Whether the Info.plist lists the identifier of the background refresh; `nil` when the configuration has none.
    public var listsRefreshTask: Bool?
    /// `sandbox` or `production`, as the app is signed; `nil` when its profile does not allow pushes.
    public var environment: String?
    /// For which of the two the server has a credential, as it said last; `nil` when it has not said.
    public var serverEnvironments: [String]?
    /// Whether the system has given a device token since the launch.
    public var hasToken = true
    /// Whether another delegate has taken the notification centre over since the launch.
    public var hasDelegate = true
    /// Whether the category of rich push is registered.
    public var hasCategory = true
    /// Whether the user turned background refresh off for this app.
    public var hasBackgroundRefresh = true
    public var isInLowPowerMode = false
    /// What the user answered.
    public var permission = "granted"
    /// Whether somebody asks OK / More in the foreground, if the configuration wants that.
    public var hearsOffers = true
    /// Whether somebody is signed in.
    public var isSignedIn = true
    /// Why the backend could not be asked just now, as in `RichPushError.code`; `nil` when it could.
    public var backendFailure: String?

    /// Creates the facts of an app in which everything is right.
    public init() {}
}
