#if canImport(UIKit) && canImport(UserNotifications)
    import Combine
    import Foundation
    import Observation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications

    /// Rich push in an app: sign in, inbox, content, sending, and what the system delivers.
    ///
    /// An app has one, from `configure(_:signInToken:activities:notificationDelegate:)`. SwiftUI observes its `state`: as an `Observable` from iOS 17
    /// on, as an `ObservableObject` in any version. It swizzles nothing: `RichPushDelegate` hands it the system's calls, or the app's own
    /// delegate forwards them to the functions of the same names.
    @MainActor
    public final class RichPush: ObservableObject {
        /// The one that `configure` made; `nil` before. For previews and tests that run in the app, where its `init` has run already.
        public private(set) static var current: RichPush?
        /// The notification centre's delegate of an app without its own; the centre does not keep it.
        private static var ownDelegate: RichPushDelegate?

        public let configuration: RichPushConfiguration
        package let engine: RichPushEngine
        /// What views observe; the registrar is that of `Observation`, where the system has it.
        @Published private var observed = RichPushState.starting
        private let registrar: (any Sendable)?
        private var readings = 0
        let router = AppRouter()
        let environment: SystemEnvironment
        let notifications = SystemNotifications()
        let eventSource: EventSource
        let downloads: BackgroundDownloads
        private let activities: (any ActivityHosting)?
        /// The delegate that the notification centre should call; a diagnosis checks whether it still does.
        weak var delegate: (any UNUserNotificationCenterDelegate)?
        private var observers: [any NSObjectProtocol] = []

        /// Configures rich push: once, before the launch has ended, as in the `init` of a SwiftUI app or in
        /// `application(_:didFinishLaunchingWithOptions:)`. A tap that starts the app is missed later (Reference/IOSClient.md#3).
        ///
        /// - Parameters:
        ///   - configuration: the same as in the service extension.
        ///   - signInToken: gives new sign-in tokens of the app's own accounts; absent when users have passwords.
        ///   - activities: the Live Activities of the app, a `LiveActivities` of `RichPushActivities`; absent for an app without any.
        ///   - notificationDelegate: the app's own delegate of the notification centre, which the app keeps and which forwards its two
        ///     calls; absent for an app that has no notifications but these.
        ///
        /// Throws `SetupError` for a mistake in the app's set-up. It is there from the first launch on and does not come later.
        public static func configure(
            _ configuration: RichPushConfiguration, signInToken: SignInTokenProvider? = nil,
            activities: (any ActivityHosting)? = nil, notificationDelegate: (any UNUserNotificationCenterDelegate)? = nil
        ) throws(SetupError) -> RichPush {
            guard current == nil else { throw .configuredTwice }
            try SetupError.check(configuration)
            let events = EventSource()
            // A full disk is no mistake in the set-up: every call then throws `storage`.
            let device: DevicePorts
            do throws(StorageError) {
                device = try .system(configuration, isForApp: true, log: events)
            } catch {
                device = .unavailable(configuration, log: events)
            }
            let push = RichPush(
                configuration: configuration, device: device, events: events, signInToken: signInToken, activities: activities)
            let own = RichPushDelegate(push)
            (current, ownDelegate) = (push, own)
            push.install(notificationDelegate ?? own)
            return push
        }

        /// With other ports, for tests. The log of `device` gets the events too.
        convenience init(
            configuration: RichPushConfiguration, device: DevicePorts, signInToken: SignInTokenProvider? = nil,
            activities: (any ActivityHosting)? = nil
        ) {
            self.init(
                configuration: configuration, device: device, events: EventSource(relay: device.log), signInToken: signInToken,
                activities: activities)
        }

        private init(
            configuration: RichPushConfiguration, device: DevicePorts, events: EventSource, signInToken: SignInTokenProvider?,
            activities: (any ActivityHosting)?
        ) {
            let configuration = configuration.inUsersLanguage()
            var device = device
            device.log = events
            self.configuration = configuration
            eventSource = events
            registrar = Self.makeRegistrar()
            environment = SystemEnvironment()
            let ports = AppPorts(
                notifications: notifications, push: SystemPushRegistration(), environment: environment, router: router,
                scheduling: configuration.refreshTask.map(SystemBackgroundScheduling.init), signInToken: signInToken,
                activities: activities)
            self.activities = activities
            engine = RichPushEngine(configuration: configuration, device: device, app: ports)
            downloads = BackgroundDownloads(
                engine: engine, configuration: configuration, clock: device.clock, log: events)
        }

        /// What the engine does, from now on, for logs and tests. Slow readers miss the oldest of more than 256.
        public var events: AsyncStream<DeviceEvent> { eventSource.stream() }

        /// Takes the system's calls from now on: registers the category, asks for a device token, sends what waits for the server.
        func install(_ delegate: any UNUserNotificationCenterDelegate) {
            self.delegate = delegate
            UNUserNotificationCenter.current().delegate = delegate
            if let task = configuration.refreshTask { BackgroundRefresh.register(task, engine: engine) }
            observe(UIApplication.didBecomeActiveNotification) { await $0.didBecomeActive() }
            observe(UIApplication.protectedDataDidBecomeAvailableNotification) { await $0.didUnlock() }
            let changes = events
            Task { [weak self] in
                for await event in changes where [.signedIn, .signInFailed, .signedOut, .rejected].contains(event.kind) {
                    await self?.readState()
                }
            }
            Task {
                let assertion = activities.map { _ in BackgroundAssertion("Launch with Live Activities") }
                defer { assertion?.end() }
                await engine.start()
                await readState()
                await engine.activitiesChanged()
            }
            guard let activities else { return }
            // As long as the app: the system gives tokens also while it runs in the background.
            let changed: @Sendable () async -> Void = { [weak self] in await self?.activitiesChanged() }
            Task { await activities.observe(changed) }
        }

        /// The system wakes an app for an activity for a moment only, and may suspend it before the server has the report.
        private func activitiesChanged() async {
            guard activities != nil else { return }
            let assertion = BackgroundAssertion("Live Activities")
            defer { assertion.end() }
            await engine.activitiesChanged()
        }

        private func observe(_ name: Notification.Name, _ work: @escaping @MainActor (RichPush) async -> Void) {
            let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
                Task { @MainActor in
                    guard let self else { return }
                    await work(self)
                }
            }
            observers.append(observer)
        }

        /// Also when no user is signed in: a sign-out may still have to reach the server.
        private func didBecomeActive() async {
            _ = try? await engine.refresh()
            await readState()
            // A refresh needs a user; an activity that a push has started since the sign-out ends all the same.
            await activitiesChanged()
        }

        private func didUnlock() async {
            await engine.didUnlock()
            await readState()
        }

        /// Whether a user is signed in. Views that read it are drawn again when it changes.
        public var state: RichPushState {
            noteReading()
            return observed
        }

        /// The name of the user who is signed in; `nil` when none is, or it is not known yet.
        public var user: String? { state.session?.user }

        /// Reads the state anew. Of several readings under way the last one counts.
        func readState() async {
            readings += 1
            var (reading, state) = (readings, await engine.state)
            while reading != readings { (reading, state) = (readings, await engine.state) }
            let before = observed.session?.id
            // What is open or waits was for the user before, whose session may have ended without a call of the app.
            if let before, before != state.session?.id {
                router.forget()
                downloads.cancel()
            }
            if state != observed { change(to: state) }
        }

        private static func makeRegistrar() -> (any Sendable)? {
            if #available(iOS 17.0, macOS 14.0, *) { ObservationRegistrar() } else { nil }
        }

        private func noteReading() {
            if #available(iOS 17.0, macOS 14.0, *), let registrar = registrar as? ObservationRegistrar {
                registrar.access(self, keyPath: \.state)
            }
        }

        private func change(to state: RichPushState) {
            if #available(iOS 17.0, macOS 14.0, *), let registrar = registrar as? ObservationRegistrar {
                registrar.withMutation(of: self, keyPath: \.state) { observed = state }
            } else {
                observed = state
            }
        }

        /// Sets where content is shown and who asks OK / More. What waited, as after a tap that started the app, is delivered now.
        ///
        /// - Parameters:
        ///   - show: called again for the same id as a content goes from loading to its end.
        ///   - offer: absent when the app turned `offersInForeground` off; otherwise silent pushes in the foreground need it.
        ///   - forget: called when another user may come: what was shown or offered is not for them and must leave the screen.
        public func attach(
            show: @escaping @MainActor (OpenedContent) -> Void, offer: (@MainActor (ContentOffer) -> Void)? = nil,
            forget: (@MainActor () -> Void)? = nil
        ) {
            router.attach(show: show, offer: offer, forget: forget)
        }
    }

    @available(iOS 17.0, macOS 14.0, *)
    extension RichPush: Observable {}

    extension RichPush {
        /// Signs the app's user in with a token of the app's own accounts: of an issuer that the server trusts, or a one-time token of
        /// the app's backend. To be called after the app's own sign-in, and again when the app's user changes; the rest is done by
        /// `signInToken` of `configure`. The token is kept nowhere.
        ///
        /// After an error whose `remedy` is `tryLater` it goes on by itself, and `state` says when it is done: the event `signInFailed`
        /// gives the reason if it fails then. Throws besides `tokenRejected`, whose problem says why, `refused` when another account has
        /// the user name, and `notSignedIn` when a sign-out or another sign-in came meanwhile.
        public func signIn(token: String) async throws(RichPushError) {
            try await readingState { () throws(RichPushError) in _ = try await engine.signIn(token: token) }
        }

        /// Signs in the user whom the app has already, with a token that `signInToken` of `configure` gives. For a `state` of
        /// `signedOut`: after the update that brought rich push, on a restored phone, or with one-time tokens, which may be limited to
        /// the installation that only the closure learns.
        ///
        /// Throws `notSignedIn` when there is no closure, or it says that the app has no user; otherwise as `signIn(token:)`.
        public func signIn() async throws(RichPushError) {
            try await readingState { () throws(RichPushError) in _ = try await engine.signIn() }
        }

        /// Signs in and registers this installation. A user who was signed in before is signed out first; call `signOut` yourself to
        /// learn what they lost by that.
        public func signIn(user: String, password: String) async throws(RichPushError) {
            // What waits for a screen was for the previous user, or arrived while no user was signed in.
            router.forget()
            downloads.cancel()
            defer { router.forget() }
            try await readingState { () throws(RichPushError) in _ = try await engine.signIn(user: user, password: password) }
        }

        /// Also after a failure, which may have ended a session or begun a sign-in that goes on by itself.
        private func readingState(_ work: () async throws(RichPushError) -> Void) async throws(RichPushError) {
            do throws(RichPushError) {
                try await work()
            } catch {
                await readState()
                throw error
            }
            await readState()
        }

        /// Signs out: nothing of the user stays on the device. Then, for at most `DeviceLimits.signOutDeadline`, the client sends the
        /// server what still waited for it and revokes the installation, also when the app goes to the background meanwhile. A
        /// revocation that does not get through is sent again at the next occasion.
        ///
        /// Returns what is lost because the server did not get it. If there is an answer among it, inform the user. Throws `storage`
        /// when something could not be read or removed.
        @discardableResult
        public func signOut() async throws(RichPushError) -> SignOutResult {
            let assertion = BackgroundAssertion("Sign out")
            defer { assertion.end() }
            router.forget()
            downloads.cancel()
            defer { router.forget() }
            let result = try await engine.signOut()
            await readState()
            return result
        }

        /// The tags by which an audience may name this installation.
        public var tags: RichPushTags { RichPushTags(engine: engine) }

        /// Asks the user for permission, in a moment when the app can explain why; provisional asks nothing and delivers quietly.
        /// Registering for pushes needs no permission.
        public func requestPermission(provisional: Bool = false) async -> NotificationPermission {
            await engine.requestPermission(provisional: provisional)
        }

        /// What the user answered.
        public var permission: NotificationPermission { get async { await notifications.permission() } }

        /// The inbox as the device knows it.
        public func inbox() async throws(RichPushError) -> Inbox { try await engine.inbox() }

        /// Sends the server what happened here and reads the inbox from it.
        @discardableResult
        public func refresh() async throws(RichPushError) -> Inbox { try await engine.refresh() }

        /// A content from the device or the server, else the reason why it is not available.
        public func open(_ id: RichID) async -> OpenedContent { await engine.open(id) }

        /// Opens a content on the screens that `attach` named: as loading first, then with its result.
        public func show(_ id: RichID) async { await engine.show(id) }

        /// The fingerprint of this device's public key, to be compared with what a sender of encrypted content sees; `nil` when no user
        /// is signed in or the app opens nothing encrypted.
        public var sealingFingerprint: String? { get async { await engine.sealingFingerprint } }

        /// What the device has of a notification, for a list with thumbnails.
        public func downloadedContent(of id: RichID) async -> CachedContent? { await engine.downloadedContent(of: id) }

        /// Lets the system download a large content, also while the app does not run. It is in the cache afterwards, where `open`
        /// finds it.
        public func downloadInBackground(_ id: RichID) async throws(RichPushError) { try await downloads.start(id) }

        /// Marks a notification as read without opening it.
        public func markRead(_ id: RichID) async throws(RichPushError) { try await engine.markRead(id) }

        /// The answer to a `ContentOffer`.
        public func answer(_ offer: ContentOffer, more: Bool) async {
            await engine.didAnswerOffer(of: offer.richID, more: more)
        }

        /// Sends a push; without a request the rich push tutorial's picture to the user's own devices. Needs
        /// `RichPushConfiguration.keepsPasswordForSending`.
        @discardableResult
        public func send(_ request: SendRequest? = nil) async throws(RichPushError) -> RichID? {
            try await engine.sendPush(request)
        }

        /// Stores content on the server, to be named in a request.
        public func upload(
            _ content: Data, mediaType: String, fileName: String? = nil
        ) async throws(RichPushError) -> ContentAnswer {
            try await engine.upload(content, mediaType: mediaType, fileName: fileName)
        }
    }

    /// The tags of an installation.
    public struct RichPushTags: Sendable {
        let engine: RichPushEngine

        /// What they are now.
        public var current: [String] { get async { await engine.currentTags.map(\.description) } }

        /// Replaces them. Throws `badTag`, and `refused` for tags that only the server may set. If the server cannot be reached now and
        /// refuses the tags later, the event `tagsRefused` reports it.
        public func set(_ tags: [String]) async throws(RichPushError) { try await engine.setTags(tags) }
    }

    /// Passes every event to all streams.
    ///
    /// `@unchecked` is safe: what changes is only touched inside the lock.
    final class EventSource: EventLog, @unchecked Sendable {
        private let lock = NSLock()
        private let relay: (any EventLog)?
        private var listeners: [UUID: AsyncStream<DeviceEvent>.Continuation] = [:]

        init(relay: (any EventLog)? = nil) { self.relay = relay }

        func record(_ event: DeviceEvent) {
            relay?.record(event)
            let listeners = lock.withLock { Array(self.listeners.values) }
            for listener in listeners { listener.yield(event) }
        }

        func stream() -> AsyncStream<DeviceEvent> {
            let (stream, continuation) = AsyncStream.makeStream(of: DeviceEvent.self, bufferingPolicy: .bufferingNewest(256))
            let id = UUID()
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
            lock.withLock { listeners[id] = continuation }
            return stream
        }

        private func remove(_ id: UUID) { _ = lock.withLock { listeners.removeValue(forKey: id) } }
    }
#endif
