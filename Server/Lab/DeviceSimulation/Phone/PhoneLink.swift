import RichPushDevice
import RichPushModel

/// The system's services as the app's engine sees them. It does not keep the phone alive.
final class PhoneLink: PhoneServices {
    private weak let phone: SimulatedPhone?

    init(phone: SimulatedPhone) { self.phone = phone }

    func noteSurplusAnswer() async { await phone?.noteSurplusAnswer() }
}

extension PhoneLink {
    func present(_ notice: LocalNotification) async throws(PresentationError) {
        guard let phone else { throw .failed }
        try await phone.present(notice)
    }

    func removeDelivered(_ identifiers: [String]) async { await phone?.removeNotices(Set(identifiers)) }

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

    func isSavingPower() async -> Bool { await phone?.system.settings.lowPower ?? false }

    func installationFacts() async -> InstallationFacts {
        await phone?.installationFacts ?? InstallationFacts(bundleID: "")
    }

    func scheduleRefresh(after pause: Duration) async { await phone?.scheduleRefresh(after: pause) }

    func show(_ content: OpenedContent) async { await phone?.route(content) }

    func offer(_ offer: ContentOffer) async { await phone?.ask(offer) }

    func report() async -> ActivityReport { await phone?.activityReport() ?? ActivityReport() }

    func pictures() async -> Set<RichID> { await phone?.activityPictures ?? [] }

    func end(_ activities: [Int64]?) async { await phone?.endActivities(activities) }
}

extension SimulatedPhone {
    func register(_ categories: [NotificationCategory]) { memory.categories = categories.map(SystemMemory.Category.init) }

    var permission: NotificationPermission { system.settings.permission.answer }

    /// The user of the simulated phone allows what the app asks for, unless it was denied before.
    func askPermission() -> NotificationPermission {
        if system.settings.permission == .notDetermined {
            var settings = system.settings
            settings.permission = .granted
            _ = system.handle(.settings(settings), at: clock.now)
        }
        publish()
        return permission
    }

    /// Asks the push service for a token and hands it to the app.
    func registerForPush() async {
        guard let engine else { return }
        do {
            guard network.isOn else { throw TransportError.unreachable }
            let token = try await service.register(device: configuration.identity.id, topic: configuration.bundleID)
            await engine.didRegister(token: token)
        } catch {
            await engine.didFailToRegister(reason: "the push service could not be reached")
        }
    }

    var appState: AppState {
        switch system.process.state {
        case .active: .active
        case .inactive: .inactive
        case .background, .suspended, .notRunning, .forceQuit: .background
        }
    }

    var installationFacts: InstallationFacts {
        InstallationFacts(
            bundleID: configuration.bundleID, environment: configuration.environment,
            locale: configuration.languages.first, languages: configuration.languages,
            appVersion: configuration.appVersion, systemVersion: "simulated", timeZone: "Etc/UTC",
            capabilities: ["service-extension"])
    }
}
