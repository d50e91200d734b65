import BackgroundTasks
import Foundation
import RichPushModel
import RichPushPlatform
import Security
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushDevice
@testable import RichPushExtension

/// A service extension as an app writes it, but on a scripted backend.
///
/// `@unchecked` is safe: the ports are set before the first push and never again.
final class TestService: RichPushNotificationService, @unchecked Sendable {
    override class var configuration: RichPushConfiguration { TestPhone.configuration }
    // What there is by then is handed over at once; only a machine that stands still takes longer than the system allows.
    override class var lastCall: DispatchTimeInterval { .seconds(20) }
    var device: DevicePorts?

    override func makeEngine() -> EnrichmentEngine? {
        device.map { EnrichmentEngine(configuration: Self.configuration, device: $0) } ?? super.makeEngine()
    }
}

/// The fakes of the system set back, a folder for the App Group, and a backend. One at a time: the fakes are one system.
@MainActor
final class TestPhone {
    nonisolated static let group = "group.org.example.shop"
    nonisolated static let refreshTask = "org.example.shop.refresh"

    nonisolated static var configuration: RichPushConfiguration {
        var configuration = RichPushConfiguration(backend: URL(string: "https://push.example.org")!, appGroup: group)
        configuration.keepsPasswordForSending = true
        configuration.refreshTask = refreshTask
        return configuration
    }

    let folder: URL
    let backend = ScriptedBackend()
    let log = RecordingLog()
    private let storeIsLocked = Locked(false)

    init() throws {
        DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("group-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        FakeSurroundings.shared.setGroups([Self.group: folder])
        FakeSurroundings.shared.setLowPower(false)
        FakeSurroundings.shared.noteContainer(nil)
        FakeKeychain.shared.reset(groups: [Self.group])
        UNUserNotificationCenter.current().fakeReset()
        UIApplication.shared.fakeReset()
        BGTaskScheduler.shared.fakeReset(permitted: [Self.refreshTask])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A header and nothing behind it: what a picture says of itself. The stand-in decodes nothing, and notes what it should.
    nonisolated static func png(_ width: UInt32, _ height: UInt32) -> Data {
        let sides = [width, height].flatMap { side in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) } }
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8) + Data(sides)
            + Data([8, 6, 0, 0, 0])
    }

    var center: UNUserNotificationCenter { UNUserNotificationCenter.current() }

    /// The shipped store, cache and key chain; only the network is scripted.
    func ports(isForApp: Bool = true, clock: any ServiceClock = SystemClock()) throws -> DevicePorts {
        var ports = try DevicePorts.system(Self.configuration, isForApp: isForApp, log: log)
        ports.transport = backend
        ports.clock = clock
        if let store = ports.store as? FileSharedStore { ports.store = LockableStore(base: store, isLocked: storeIsLocked) }
        return ports
    }

    /// As after a restart, until the first unlock: neither key chain nor records can be read.
    func setLocked(_ isLocked: Bool) {
        storeIsLocked.with { $0 = isLocked }
        FakeKeychain.shared.setLocked(isLocked)
    }

    /// A new process of the app, as far as the end of its launch.
    func launch(
        clock: any ServiceClock = SystemClock(), signInToken: SignInTokenProvider? = nil,
        activities: (any ActivityHosting)? = nil
    ) throws -> RichPushDelegate {
        FakeKeychain.shared.setOwnGroup("app")
        let push = RichPush(
            configuration: Self.configuration, device: try ports(clock: clock), signInToken: signInToken, activities: activities)
        let delegate = RichPushDelegate(push)
        push.install(delegate)
        _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)
        return delegate
    }

    /// As above, with alice signed in.
    func signedIn(
        clock: any ServiceClock = SystemClock(), activities: (any ActivityHosting)? = nil
    ) async throws -> RichPushDelegate {
        let delegate = try launch(clock: clock, activities: activities)
        delegate.application(.shared, didRegisterForRemoteNotificationsWithDeviceToken: Data([0x0A, 0xBC]))
        try await delegate.push.signIn(user: "alice", password: "secret")
        return delegate
    }

    /// A new process of the extension.
    func launchExtension(clock: any ServiceClock = SystemClock()) throws -> TestService {
        FakeKeychain.shared.setOwnGroup("extension")
        let service = TestService()
        service.device = try ports(isForApp: false, clock: clock)
        return service
    }

    nonisolated static func payload(_ number: Int, kind: String = "img", message: String = "Check this image out!")
        -> [AnyHashable: Any]
    {
        ["aps": ["content-available": 1], "richId": "\(number)", "richMessage": message, "richType": kind]
    }
}

/// What a completion block was called with, from whatever thread.
final class Answers<Value: Sendable>: Sendable {
    private let answers = Locked<[(value: Value, onMain: Bool)]>([])

    var values: [Value] { answers.with { $0.map(\.value) } }
    var allOnMain: Bool { answers.with { $0.allSatisfy(\.onMain) } }

    func add(_ value: Value) { answers.with { $0.append((value, isOnMainQueue())) } }
}

/// Whether a block is called for the first time. One that comes twice fails the tests that count, and ends no other.
private final class First: Sendable {
    private let isTaken = Locked(false)

    func take() -> Bool {
        isTaken.with { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }
}

private let mainQueueKey = DispatchSpecificKey<Bool>()

/// Whether this runs on the main queue. A test process on Linux drains it on a thread of its own choice, so the
/// thread does not identify it.
func isOnMainQueue() -> Bool { DispatchQueue.getSpecific(key: mainQueueKey) == true }

/// Gives other tasks their turn until something has happened; `false` if it does not.
@MainActor
func soon(_ condition: @MainActor () async -> Bool) async -> Bool {
    // Turns alone pass quickly while something else has the processor.
    let end = ContinuousClock.now + .seconds(20)
    var turns = 0
    while turns < 200_000 || ContinuousClock.now < end {
        if await condition() { return true }
        await Task.yield()
        turns += 1
    }
    return false
}

/// Lets the system call with a background push, and waits for the answer.
@MainActor
func push(_ payload: [AnyHashable: Any], to delegate: RichPushDelegate) async -> UIBackgroundFetchResult {
    let first = First()
    return await withCheckedContinuation { continuation in
        delegate.application(.shared, didReceiveRemoteNotification: payload) { result in
            if first.take() { continuation.resume(returning: result) }
        }
    }
}

/// Lets the user act and reports it as the system does: on a thread that is not the main one.
@discardableResult
func respond(
    _ delegate: RichPushDelegate, to number: Int, _ action: String, text: String? = nil, kind: String = "img",
    counting answers: Answers<Bool> = Answers()
) async -> Answers<Bool> {
    let first = First()
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            let content = UNMutableNotificationContent()
            content.userInfo = TestPhone.payload(number).merging(["richType": kind]) { $1 }
            let request = UNNotificationRequest(identifier: "rich-\(number)", content: content, trigger: nil)
            let shown = UNNotification(fake: request)
            let response =
                text.map { UNTextInputNotificationResponse(fake: shown, action: action, text: $0) }
                ?? UNNotificationResponse(fake: shown, action: action)
            delegate.userNotificationCenter(.current(), didReceive: response) {
                answers.add(true)
                if first.take() { continuation.resume() }
            }
        }
    }
    return answers
}

/// Lets the system ask how to show a push over the app; as above.
func askToPresent(
    _ delegate: RichPushDelegate, richID: String?, body: String = "You have a new message", subject: String? = nil,
    isNeutral: Bool = false
) async -> (UNNotificationPresentationOptions, onMain: Bool) {
    let first = First()
    return await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            let content = UNMutableNotificationContent()
            content.title = isNeutral ? "" : "New"
            content.body = body
            content.userInfo["richId"] = richID
            content.userInfo["richFor"] = subject
            content.userInfo["richNeutral"] = isNeutral ? true : nil
            let request = UNNotificationRequest(identifier: "remote", content: content, trigger: nil)
            delegate.userNotificationCenter(.current(), willPresent: UNNotification(fake: request)) { options in
                if first.take() { continuation.resume(returning: (options, isOnMainQueue())) }
            }
        }
    }
}
