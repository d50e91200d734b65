// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
@_exported import AppleFoundationShims

public enum UIBackgroundFetchResult: UInt, Sendable { case newData, noData, failed }
public enum UIBackgroundRefreshStatus: Int, Sendable { case restricted, denied, available }

public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let invalid = Self(rawValue: 0)
}

@MainActor
open class UIResponder: NSObject {
    public nonisolated override init() { super.init() }
}

@MainActor
open class UIApplication: UIResponder {
    public enum State: Int, Sendable { case active, inactive, background }

    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let remoteNotification = Self(rawValue: "remoteNotification")
    }

    private static let theOnly = UIApplication()
    open class var shared: UIApplication { theOnly }

    public nonisolated static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActive")
    public nonisolated static let protectedDataDidBecomeAvailableNotification =
        Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")
    public nonisolated static let openSettingsURLString = "app-settings:"

    open var applicationState: State { fakeState }
    open var backgroundRefreshStatus: UIBackgroundRefreshStatus { fakeRefreshStatus }
    open func registerForRemoteNotifications() { fakeRegistrations += 1 }

    @discardableResult
    open func open(_ url: URL) async -> Bool { true }

    open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        fakeTasks += 1
        fakeOpenTasks.insert(fakeTasks)
        return UIBackgroundTaskIdentifier(rawValue: fakeTasks)
    }

    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { fakeOpenTasks.remove(identifier.rawValue) }

    public var fakeState = State.background
    public var fakeRefreshStatus = UIBackgroundRefreshStatus.available
    public var fakeRegistrations = 0
    public var fakeOpenTasks: Set<Int> = []
    private var fakeTasks = 0

    public func fakeReset() {
        fakeState = .background
        fakeRefreshStatus = .available
        fakeRegistrations = 0
        fakeOpenTasks = []
    }
}

#if SENDABLE_HANDLERS
    public typealias FetchHandler = @Sendable (UIBackgroundFetchResult) -> Void
    public typealias EventsHandler = @Sendable () -> Void
#else
    public typealias FetchHandler = (UIBackgroundFetchResult) -> Void
    public typealias EventsHandler = () -> Void
#endif

/// On Apple's systems all its functions are optional; the strict reading asks for each that rich push needs.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// Not of Apple's: there the runtime makes a delegate by its class, and here the language has to.
    init()
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping FetchHandler)
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping EventsHandler)
}

#if !STRICT
    extension UIApplicationDelegate {
        public func application(
            _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool { true }
        public func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {}
        public func application(
            _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
        ) {}
        public func application(
            _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
            fetchCompletionHandler completionHandler: @escaping FetchHandler
        ) { completionHandler(.noData) }
        public func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping EventsHandler
        ) { completionHandler() }
    }
#endif
