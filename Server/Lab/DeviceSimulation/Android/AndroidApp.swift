import FCMEmulation
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app's process: how it is made and how it ends.
extension AndroidPhone {
    /// The running app; started in the background if it is not.
    func runningApp() async throws(PhoneActionError) -> any AppRole {
        guard memory.isInstalled else { throw .notPossible(HoldReason.notInstalled.sentence) }
        if let app { return app }
        let app = try makeEngine()
        self.app = app
        if !isInFront { view.process = .background }
        await app.start()
        await readApp()
        guard self.app === app else { throw .notPossible("The app was ended before it ran") }
        return app
    }

    private func makeEngine() throws(PhoneActionError) -> RichPushEngine {
        let log = StoryEventLog(story: story, role: .app) { [weak self] in
            Task { await self?.readApp() }
        }
        guard
            let ports = try? DevicePorts.simulated(
                folder: configuration.folder, isForApp: true, limits: configuration.contentLimits, transport: transport,
                clock: clock, identifiers: identifiers, log: log)
        else { throw .notPossible("The phone's folder cannot be used") }
        let link = AndroidLink(phone: self)
        var built = configuration.app
        built.offersInForeground = false
        return RichPushEngine(
            configuration: built, device: ports,
            app: AppPorts(notifications: link, push: link, environment: link, router: link))
    }

    /// The process of the app is gone, and with it what only it knew.
    func endProcess(_ state: PhoneSnapshot.ProcessState) async {
        let (app, abandon) = (app, abandon)
        (self.app, self.abandon, opened, loading) = (nil, nil, nil, [])
        view.process = state
        (view.content, view.signIn, view.sending, view.undelivered) = (nil, .init(), .init(), nil)
        if appScreen == .content { appScreen = .main }
        publish()
        await app?.stop()
        await abandon?()
    }

    func setBadge(_ count: Int) {
        view.badge = max(0, count)
        publish()
    }

    func register(_ categories: [NotificationCategory]) { memory.categories = categories.map(SystemMemory.Category.init) }

    var permission: NotificationPermission { memory.settings.permission.answer }

    /// The user of the simulated phone allows what the app asks for, unless it was denied before.
    func askPermission() -> NotificationPermission {
        if memory.settings.permission == .notDetermined { memory.settings.permission = .granted }
        publish()
        return permission
    }

    /// `getToken`, which needs no network once there is a token.
    func registerForPush() async {
        guard let token = device.token else { return await app?.didFailToRegister(reason: "FCM gave no token") ?? () }
        memory.token = token
        await app?.didRegister(token: token)
    }

    var appState: AppState {
        switch view.process {
        case .active: view.locked ? .inactive : .active
        case .inactive: .inactive
        default: .background
        }
    }

    var installationFacts: InstallationFacts {
        InstallationFacts(
            bundleID: configuration.bundleID, locale: configuration.languages.first, languages: configuration.languages,
            appVersion: configuration.appVersion, systemVersion: "simulated", timeZone: "Etc/UTC",
            platform: Platform(rawValue: "fcmv1"))
    }
}

/// The system's services as the app's engine sees them. It does not keep the phone alive.
final class AndroidLink: NotificationPresenting, PushRegistering, AppEnvironment, ContentRouting {
    private weak let phone: AndroidPhone?

    init(phone: AndroidPhone) { self.phone = phone }

    func present(_ notice: LocalNotification) async throws(PresentationError) {
        guard let phone else { throw .failed }
        try await phone.post(
            notice.content, id: notice.identifier, richID: notice.richID, kind: notice.kind, by: "the app")
    }

    func removeDelivered(_ identifiers: [String]) async { await phone?.removeNotices(Set(identifiers)) }

    /// Those that the app posted, and no others (`NotificationManager.cancelAll`).
    func removeAllDelivered() async { await phone?.removeAllNotices() }

    func delivered() async -> [DeliveredNotification] {
        await phone?.list.entries.map { DeliveredNotification(identifier: $0.notice.id, richID: $0.notice.richID) } ?? []
    }

    func setBadge(_ count: Int) async { await phone?.setBadge(count) }

    func register(_ categories: [NotificationCategory]) async { await phone?.register(categories) }

    func permission() async -> NotificationPermission { await phone?.permission ?? .denied }

    func requestPermission(provisional: Bool) async -> NotificationPermission { await phone?.askPermission() ?? .denied }

    func registerForPush() async { await phone?.registerForPush() }

    func appState() async -> AppState { await phone?.appState ?? .background }

    func isSavingPower() async -> Bool { false }

    func installationFacts() async -> InstallationFacts {
        await phone?.installationFacts ?? InstallationFacts(bundleID: "")
    }

    func show(_ content: OpenedContent) async { await phone?.route(content) }

    /// Never called: the app posts a notification in the foreground as well.
    func offer(_ offer: ContentOffer) async {}
}
