#if canImport(UIKit) && canImport(UserNotifications)
    import BackgroundTasks
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications

    /// The system's calls, by the names that they have in the delegates. `RichPushDelegate` forwards them; an app with a
    /// delegate of its own forwards them by hand, each on the thread on which it comes. The delegate of the notification centre is set by
    /// `configure`.
    extension RichPush {
        /// What the app may take of the about thirty seconds that the system gives a background push.
        private static let budget: Duration = .seconds(25)

        /// The system gave a device token.
        public func didRegisterForRemoteNotifications(deviceToken: Data) {
            environment.noteToken()
            Task { await engine.didRegister(token: deviceToken.hexadecimal) }
        }

        /// The system gave none; the next launch asks again.
        public func didFailToRegisterForRemoteNotifications(_ error: any Error) {
            let reason = "\((error as NSError).domain) \((error as NSError).code)"
            Task { await engine.didFailToRegister(reason: reason) }
        }

        /// A push woke the app. `completion` is called once, within the budget, on the main thread.
        public func didReceiveRemoteNotification(
            _ userInfo: [AnyHashable: Any], fetchCompletionHandler completion: @escaping (UIBackgroundFetchResult) -> Void
        ) {
            guard let envelope = PushEnvelope(userInfo: userInfo) else { return completion(.noData) }
            let done = OneShot(completion)
            Task {
                switch await engine.handleBackgroundPush(envelope, budget: Self.budget) {
                case .newData: done(.newData)
                case .noData: done(.noData)
                case .failed: done(.failed)
                }
            }
        }

        /// The system is about to show a notification over the app. It may call on any thread; `completion` is called once, on
        /// the main thread: answered elsewhere the system stops the process (Reference/IOSClient.md#4).
        public nonisolated func willPresent(
            _ notification: UNNotification,
            withCompletionHandler completion: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            let call = PresentationCall(notification, completion)
            Task { @MainActor in await self.answer(call) }
        }

        /// The user did something with a notification. As above.
        public nonisolated func didReceive(
            _ response: UNNotificationResponse, withCompletionHandler completion: @escaping () -> Void
        ) {
            let call = ResponseCall(response, completion)
            Task { @MainActor in self.answer(call) }
        }

        func answer(_ call: PresentationCall) async { call.done(Self.options(await engine.willPresent(call.notification))) }

        /// The content may take long, and the system only waits for the tap to be handled.
        func answer(_ call: ResponseCall) {
            defer { call.done() }
            guard let response = call.response else { return }
            let assertion = BackgroundAssertion("Notification response")
            Task {
                await engine.didRespond(response)
                assertion.end()
            }
        }

        /// The system relaunched the app, or woke it, because downloads have ended. `completion` is called on the main thread
        /// when all of them have been taken in.
        public func handleEventsForBackgroundURLSession(_ identifier: String, completionHandler: @escaping () -> Void) {
            guard identifier == BackgroundDownloads.identifier else { return completionHandler() }
            downloads.finish(then: OneShot(completionHandler))
        }

        private static func options(_ options: PresentationOptions) -> UNNotificationPresentationOptions {
            var converted: UNNotificationPresentationOptions = []
            if options.contains(.banner) { converted.insert(.banner) }
            if options.contains(.list) { converted.insert(.list) }
            if options.contains(.sound) { converted.insert(.sound) }
            return converted
        }
    }

    /// Passes what the engine wants shown to the app's screens. Until the app has screens, as when a tap starts it, the newest items
    /// wait here.
    @MainActor
    final class AppRouter: ContentRouting {
        /// More than a user taps before an app has started.
        private static let limit = 16

        private(set) var contents: [OpenedContent] = []
        private var offers: [ContentOffer] = []
        private var onShow: (@MainActor (OpenedContent) -> Void)?
        private var onOffer: (@MainActor (ContentOffer) -> Void)?
        private var onForget: (@MainActor () -> Void)?

        /// Whether a screen asks OK / More.
        var handlesOffers: Bool { onOffer != nil }

        func attach(
            show: @escaping @MainActor (OpenedContent) -> Void, offer: (@MainActor (ContentOffer) -> Void)?,
            forget: (@MainActor () -> Void)? = nil
        ) {
            onShow = show
            onOffer = offer
            onForget = forget
            let (contents, offers) = (contents, offers)
            self.contents = []
            for content in contents { show(content) }
            guard let offer else { return }
            self.offers = []
            for waiting in offers { offer(waiting) }
        }

        /// Drops what waits and what a screen asks: it was for a user who has signed out.
        func forget() {
            contents = []
            offers = []
            onForget?()
        }

        func show(_ content: OpenedContent) async {
            if let onShow { return onShow(content) }
            contents.removeAll { $0.richID == content.richID }
            contents.append(content)
            if contents.count > Self.limit { contents.removeFirst() }
        }

        func offer(_ offer: ContentOffer) async {
            if let onOffer { return onOffer(offer) }
            offers.removeAll { $0.richID == offer.richID }
            offers.append(offer)
            if offers.count > Self.limit { offers.removeFirst() }
        }
    }

    /// Now and then, when the system sees fit, the app sends waiting receipts and reads its inbox without being opened.
    enum BackgroundRefresh {
        /// What the app may take of the about thirty seconds that the system gives it (Reference/IOSClient.md#3).
        private static let budget: Duration = .seconds(25)

        /// To be called before the launch has ended. `false` when the Info.plist does not list the identifier.
        @discardableResult
        static func register(_ identifier: String, engine: RichPushEngine) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in run(task, engine) }
        }

        /// Reports completion to the system exactly once, also when the system ends the task early.
        private static func run(_ task: BGTask, _ engine: RichPushEngine) {
            let done = OneShot<Bool> { task.setTaskCompleted(success: $0) }
            let work = Task { done(await engine.handleBackgroundRefresh(budget: budget)) }
            task.expirationHandler = {
                work.cancel()
                done(false)
            }
        }
    }

    /// Asks the system for the next refresh; it refuses what the Info.plist does not list, and `diagnose()` says so.
    struct SystemBackgroundScheduling: BackgroundScheduling {
        let identifier: String

        func scheduleRefresh(after pause: Duration) async {
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = Date(timeIntervalSinceNow: pause.inSeconds)
            try? BGTaskScheduler.shared.submit(request)
        }
    }

    /// Keeps the app running for a short piece of work when it goes to the background.
    @MainActor
    final class BackgroundAssertion {
        private var identifier = UIBackgroundTaskIdentifier.invalid

        /// Asks the system; it ends the assertion itself when the time is up.
        init(_ name: String) {
            identifier = UIApplication.shared.beginBackgroundTask(withName: name) { [weak self] in self?.end() }
        }

        /// To be called once the work is done; more calls do no harm.
        func end() {
            guard identifier != .invalid else { return }
            UIApplication.shared.endBackgroundTask(identifier)
            identifier = .invalid
        }
    }

    extension DevicePorts {
        /// For an app that can write to no folder: every call fails, no user is signed in, and `diagnose()` reports it.
        static func unavailable(_ configuration: RichPushConfiguration, log: any EventLog) -> DevicePorts {
            DevicePorts(
                transport: URLSessionTransport(), secrets: secrets(configuration, isForApp: true), store: NoStore(),
                cache: NoCache(), clock: SystemClock(), identifiers: SystemIdentifierSource(), log: log)
        }
    }

    private struct NoStore: SharedStore {
        func session() throws(StorageError) -> Session? { throw .failed }
        func begin(_ session: Session) throws(StorageError) { throw .failed }
        func update(_ session: Session) throws(StorageError) { throw .failed }
        func wipe() throws(StorageError) { throw .failed }
        func record(_ key: RecordKey) throws(StorageError) -> Data? { throw .failed }
        func setRecord(_ data: Data, for key: RecordKey) throws(StorageError) { throw .failed }
        func removeRecord(_ key: RecordKey) throws(StorageError) { throw .failed }
        func records(
            _ collection: RecordKey.Collection, of session: SessionID, limit: Int
        ) throws(StorageError) -> [Data] { throw .failed }
        func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim? { throw .failed }
        func release(_ claim: HeldClaim) throws(StorageError) { throw .failed }
    }

    private struct NoCache: ContentCache {
        func begin(_ session: SessionID) throws(StorageError) { throw .failed }
        func wipe() throws(StorageError) { throw .failed }
        func newDownload(for session: SessionID, now: Timestamp) throws(StorageError) -> URL { throw .failed }
        func adopt(
            _ file: URL, as key: ContentKey, descriptor: ContentDescriptor, now: Timestamp
        ) throws(StorageError) -> CachedContent { throw .failed }
        func content(_ key: ContentKey, now: Timestamp) throws(StorageError) -> CachedContent? { throw .failed }
        func contains(_ key: ContentKey) -> Bool { false }
        func remove(_ key: ContentKey) throws(StorageError) { throw .failed }
        func handedOut(
            _ content: CachedContent, named name: String?, of session: SessionID
        ) throws(StorageError) -> CachedContent { throw .failed }
        func copyForSystem(
            _ content: CachedContent, of session: SessionID, now: Timestamp
        ) throws(StorageError) -> URL { throw .failed }
        func share(_ content: CachedContent, as id: RichID, of session: SessionID) throws(StorageError) { throw .failed }
        func keepShared(_ ids: Set<RichID>) throws(StorageError) -> Set<RichID> { throw .failed }
    }
#endif
