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
        /// All that is not of the system. For what this class does not offer.
        public let engine: RichPushEngine
        let router = AppRouter()
        let environment: SystemEnvironment
        let notifications = SystemNotifications()
        let eventSource: EventSource
        let downloads: BackgroundDownloads
        /// Whom the notification centre should call, to see in a diagnosis whether it still does.
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

        /// Creates a client that keeps and fetches elsewhere, as tests do. The log of `device` is replaced by `events`.
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

        /// Starts once: registers the category, asks for a device token, tells the server what waits.
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

        /// Also when nobody is signed in: the server may not have heard of the sign-out yet.
        private func didBecomeActive() async { _ = try? await engine.refresh() }

        /// Says where content is shown and who asks OK / More. What came before, as with a tap that started the app, comes now.
        ///
        /// - Parameters:
        ///   - show: called again for the same id as a content goes from loading to its end.
        ///   - offer: absent when the app turned `offersInForeground` off; otherwise silent pushes in the foreground need it.
        ///   - forget: called when another user may come: what was shown or offered is not for them, and has to leave the screen.
        public func attach(
            show: @escaping @MainActor (OpenedContent) -> Void, offer: (@MainActor (ContentOffer) -> Void)? = nil,
            forget: (@MainActor () -> Void)? = nil
        ) {
            router.attach(show: show, offer: offer, forget: forget)
        }
    }
#endif
