#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications

    /// Rich push in an app: sign in, inbox, content, sending, and what the system delivers.
    ///
    /// An app has one, made by `RichPushAppDelegate` or by the app itself at launch. It swizzles nothing: an app with a delegate
    /// of its own forwards the system's calls to the functions of the same names.
    @MainActor
    public final class RichPushClient {
        public let configuration: RichPushConfiguration
        /// The engine below the system's services, for what this class does not offer.
        public let engine: RichPushEngine
        let router = AppRouter()
        let environment: SystemEnvironment
        let notifications = SystemNotifications()
        let eventSource: EventSource
        let downloads: BackgroundDownloads
        /// The delegate that the notification centre should call; a diagnosis checks whether it still does.
        weak var delegate: (any UNUserNotificationCenterDelegate)?
        private var observers: [any NSObjectProtocol] = []
        private var isStarted = false

        /// Creates a client with the system's network, key chain and files.
        public convenience init(configuration: RichPushConfiguration) {
            let events = EventSource()
            let device =
                (try? DevicePorts.system(configuration, isForApp: true, log: events))
                ?? .unavailable(configuration, log: events)
            self.init(configuration: configuration, device: device, events: events)
        }

        /// Creates a client with other ports, as tests do. The log of `device` is replaced by `events`.
        public convenience init(configuration: RichPushConfiguration, device: DevicePorts) {
            self.init(configuration: configuration, device: device, events: EventSource(relay: device.log))
        }

        private init(configuration: RichPushConfiguration, device: DevicePorts, events: EventSource) {
            let configuration = configuration.inUsersLanguage()
            var device = device
            device.log = events
            self.configuration = configuration
            eventSource = events
            environment = SystemEnvironment()
            let ports = AppPorts(
                notifications: notifications, push: SystemPushRegistration(), environment: environment, router: router,
                scheduling: configuration.refreshTask.map(SystemBackgroundScheduling.init))
            engine = RichPushEngine(configuration: configuration, device: device, app: ports)
            downloads = BackgroundDownloads(
                engine: engine, configuration: configuration, clock: device.clock, log: events)
        }

        /// What the engine does, from now on, for logs and tests. Slow readers miss the oldest of more than 256.
        public var events: AsyncStream<DeviceEvent> { eventSource.stream() }

        /// Starts once: registers the category, asks for a device token, sends what waits for the server.
        func start() {
            guard !isStarted else { return }
            isStarted = true
            observe(UIApplication.didBecomeActiveNotification) { await $0.didBecomeActive() }
            observe(UIApplication.protectedDataDidBecomeAvailableNotification) { await $0.engine.didUnlock() }
            Task { await engine.start() }
        }

        private func observe(_ name: Notification.Name, _ work: @escaping @MainActor (RichPushClient) async -> Void) {
            let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
                Task { @MainActor in
                    guard let self else { return }
                    await work(self)
                }
            }
            observers.append(observer)
        }

        /// Also when no user is signed in: a sign-out may still have to reach the server.
        private func didBecomeActive() async { _ = try? await engine.refresh() }

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

    extension RichPushClient {
        /// The name of the signed-in user; `nil` when no user is signed in, or before the first unlock.
        public var user: String? { get async { await engine.session?.user } }

        /// Signs in and registers this installation. A user who was signed in before is signed out first; call `signOut` yourself to
        /// learn what they lost by that.
        public func signIn(user: String, password: String) async throws(RichPushError) {
            // What waits for a screen was for the previous user, or arrived while no user was signed in.
            router.forget()
            downloads.cancel()
            defer { router.forget() }
            try await engine.signIn(user: user, password: password)
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
            return try await engine.signOut()
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

        /// Looks at how the app is set up and says what is wrong. It asks the backend once, so it may take some seconds.
        public func diagnose() async -> Diagnosis {
            var facts = SetupFacts()
            facts.hasAppGroup = configuration.appGroup.map { SharedFolder.inGroup($0) != nil }
            facts.hasSharedKeychain = Self.probe(DevicePorts.secrets(probing: configuration))
            facts.hasServiceExtension = Self.carriesServiceExtension
            facts.hasRemoteNotificationMode = Self.listed(under: "UIBackgroundModes").contains("remote-notification")
            let tasks = Self.listed(under: "BGTaskSchedulerPermittedIdentifiers")
            facts.listsRefreshTask = configuration.refreshTask.map { tasks.contains($0) }
            facts.environment = PushSigning.current?.rawValue
            facts.hasToken = environment.hasToken
            let center = UNUserNotificationCenter.current()
            facts.hasDelegate = delegate != nil && center.delegate === delegate
            facts.hasCategory = await notifications.hasCategory(PushEnvelope.category)
            facts.hasBackgroundRefresh = UIApplication.shared.backgroundRefreshStatus == .available
            facts.isInLowPowerMode = ProcessInfo.processInfo.isLowPowerModeEnabled
            facts.permission = await permission.rawValue
            facts.handlesOffers = !configuration.offersInForeground || router.handlesOffers
            facts.isSignedIn = await engine.session != nil
            if facts.isSignedIn {
                do throws(RichPushError) { _ = try await engine.refresh() } catch { facts.backendFailure = error.code }
            }
            facts.serverEnvironments = await engine.serverEnvironments
            return Diagnosis(facts)
        }

        /// Writes, reads and removes a secret under a service name of its own.
        private static func probe(_ secrets: KeychainSecretStore) -> Bool {
            defer { try? secrets.removeSecret(.credential) }
            return (try? secrets.setSecret("probe", for: .credential)) != nil
                && (try? secrets.secret(.credential)) == "probe"
        }

        private static func listed(under key: String) -> [String] {
            Bundle.main.object(forInfoDictionaryKey: key) as? [String] ?? []
        }

        static var carriesServiceExtension: Bool {
            guard let folder = Bundle.main.builtInPlugInsURL,
                let plugIns = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            else { return false }
            return plugIns.contains { plugIn in
                let about = Bundle(url: plugIn)?.object(forInfoDictionaryKey: "NSExtension") as? [String: Any]
                return about?["NSExtensionPointIdentifier"] as? String == "com.apple.usernotifications.service"
            }
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

    extension DevicePorts {
        /// The same place as the real secrets, under another name.
        fileprivate static func secrets(probing configuration: RichPushConfiguration) -> KeychainSecretStore {
            KeychainSecretStore(service: "richpush probe", sharedGroup: configuration.appGroup, isForApp: true)
        }
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

    /// Which of Apple's two push services the app is signed for. A token of one is refused by the other.
    enum PushSigning: String {
        case sandbox, production

        /// An app from the store carries no profile; one from Xcode or for testers carries the profile that says it.
        static var current: PushSigning? {
            #if targetEnvironment(simulator)
                return .sandbox
            #else
                guard let file = Bundle.main.url(forResource: "embedded", withExtension: "mobileprovision") else {
                    return .production
                }
                return (try? Data(contentsOf: file)).flatMap { PushSigning(profile: $0) }
            #endif
        }

        /// Reads a provisioning profile: a property list inside a signature. `nil` when it does not allow pushes at all.
        init?(profile: Data) {
            let text = String(decoding: profile, as: UTF8.self)
            guard let key = text.range(of: "<key>aps-environment</key>"),
                let start = text.range(of: "<string>", range: key.upperBound..<text.endIndex),
                let end = text.range(of: "</string>", range: start.upperBound..<text.endIndex)
            else { return nil }
            switch text[start.upperBound..<end.lowerBound] {
            case "development": self = .sandbox
            case "production": self = .production
            default: return nil
            }
        }
    }
#endif
