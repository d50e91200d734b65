import Foundation
import RichPushModel

@testable import RichPushDevice

/// A notification centre that takes everything, moves attachments away as the system does, and remembers.
actor FakeNotifications: NotificationPresenting {
    private(set) var presented: [LocalNotification] = []
    private(set) var attached: [Data] = []
    private(set) var badge = 0
    private(set) var categories: [NotificationCategory] = []
    private(set) var removed: [String] = []
    private(set) var isCleared = false
    var refusesAttachments = false
    private var gate: Gate?
    private var isPermitted = true

    func present(_ notice: LocalNotification) async throws(PresentationError) {
        guard isPermitted else { throw .notPermitted }
        if let attachment = notice.content.attachment {
            if refusesAttachments { throw .badAttachment }
            guard let data = try? Data(contentsOf: attachment.file) else { throw .badAttachment }
            try? FileManager.default.removeItem(at: attachment.file)
            attached.append(data)
        }
        await gate?.pass()
        presented.append(notice)
    }

    func removeDelivered(_ identifiers: [String]) async { removed += identifiers }
    func removeAllDelivered() async { isCleared = true }
    func delivered() async -> [DeliveredNotification] {
        presented.map { DeliveredNotification(identifier: $0.identifier, richID: $0.richID) }
    }
    func setBadge(_ count: Int) async { badge = count }
    func register(_ categories: [NotificationCategory]) async { self.categories = categories }
    func permission() async -> NotificationPermission { isPermitted ? .granted : .denied }
    func requestPermission(provisional: Bool) async -> NotificationPermission { await permission() }

    func refuseAttachments() { refusesAttachments = true }
    func wait(at gate: Gate) { self.gate = gate }
    func deny() { isPermitted = false }
    func allow() { isPermitted = true }
}

actor FakePush: PushRegistering {
    private(set) var requests = 0
    func registerForPush() async { requests += 1 }
}

actor FakeEnvironment: AppEnvironment {
    private var state: AppState = .background
    private var locale = "en"
    private var savesPower = false
    private var appVersion = "2.1 (417)"
    private var systemVersion = "iOS 18.2"
    private var platform = Platform.apns
    func appState() async -> AppState { state }
    func isSavingPower() async -> Bool { savesPower }
    func installationFacts() async -> InstallationFacts {
        InstallationFacts(
            bundleID: "org.example.app", environment: "production", locale: locale, appVersion: appVersion,
            systemVersion: systemVersion, timeZone: "Europe/Stockholm", capabilities: ["service-extension"], platform: platform)
    }
    func set(_ state: AppState) { self.state = state }
    func set(savesPower: Bool) { self.savesPower = savesPower }
    func set(locale: String) { self.locale = locale }
    func set(appVersion: String) { self.appVersion = appVersion }
    func set(systemVersion: String) { self.systemVersion = systemVersion }
    func set(platform: Platform) { self.platform = platform }
}

actor FakeScheduling: BackgroundScheduling {
    private(set) var pauses: [Duration] = []
    func scheduleRefresh(after pause: Duration) async { pauses.append(pause) }
}

actor FakeRouter: ContentRouting {
    private(set) var shown: [OpenedContent] = []
    private(set) var offers: [ContentOffer] = []
    func show(_ content: OpenedContent) async { shown.append(content) }
    func offer(_ offer: ContentOffer) async { offers.append(offer) }
}

/// The accounts of an app: gives the token that was set, `nil` for an app without a user, or fails.
final class FakeTokens: Sendable {
    struct Unavailable: Error {}

    private let state = Locked<(token: Result<String?, Unavailable>, needs: [SignInTokenNeed])>((.success(nil), []))
    /// What it was asked, oldest first.
    var needs: [SignInTokenNeed] { state.with { $0.needs } }

    func set(_ token: String?) { state.with { $0.token = .success(token) } }
    func fail() { state.with { $0.token = .failure(Unavailable()) } }
    func answer(_ need: SignInTokenNeed) throws(Unavailable) -> String? {
        try state.with { state in
            state.needs.append(need)
            return state.token
        }.get()
    }
}

/// Secrets in memory; an extension's view leaves out what is for the app only.
struct MemorySecrets: SecretStore {
    let values: Locked<[SecretKey: String]>
    var isForApp = true
    let isLocked: Locked<Bool>

    init(_ values: Locked<[SecretKey: String]> = Locked([:]), isForApp: Bool = true, isLocked: Locked<Bool> = Locked(false)) {
        self.values = values
        self.isForApp = isForApp
        self.isLocked = isLocked
    }

    func secret(_ key: SecretKey) throws(StorageError) -> String? {
        if isLocked.with({ $0 }) { throw .locked }
        return isForApp || !key.isForAppOnly ? values.with { $0[key] } : nil
    }

    func setSecret(_ secret: String, for key: SecretKey) throws(StorageError) { values.with { $0[key] = secret } }
    func removeSecret(_ key: SecretKey) throws(StorageError) { values.with { $0[key] = nil } }
}

/// Identifiers that count, and no jitter.
final class CountingIdentifiers: IdentifierSource {
    private let count = Locked(0)

    func newIdentifier() -> String {
        let number = count.with { count in
            count += 1
            return count
        }
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 32 - text.count) + text
    }

    func fraction() -> Double { 0 }
}

final class RecordingLog: EventLog {
    private let events = Locked<[DeviceEvent]>([])
    var kinds: [DeviceEvent.Kind] { events.with { $0.map(\.kind) } }
    var all: [DeviceEvent] { events.with { $0 } }
    func record(_ event: DeviceEvent) { events.with { $0.append(event) } }
}

/// The Live Activities of a device as a test sets them.
final class FakeActivities: ActivityHosting {
    private let state = Locked<(report: ActivityReport, ended: [[Int64]?])>((ActivityReport(), []))
    private let named = Locked<Set<RichID>>([])

    /// The pictures that the states of the activities name.
    func name(_ pictures: Set<RichID>) { named.with { $0 = pictures } }

    func pictures() async -> Set<RichID> { named.with { $0 } }

    /// What was asked for each time; `nil` is all.
    var ended: [[Int64]?] { state.with { $0.ended } }

    func set(_ report: ActivityReport) { state.with { $0.report = report } }

    func report() async -> ActivityReport { state.with { $0.report } }

    func end(_ activities: [Int64]?) async {
        state.with { state in
            state.ended.append(activities)
            state.report.activities.removeAll { activities?.contains($0.id) ?? true }
        }
    }
}
