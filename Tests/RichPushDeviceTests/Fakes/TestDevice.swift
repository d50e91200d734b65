import Foundation
import RichPushModel

@testable import RichPushDevice

/// A device on disk with a scripted backend: engines can be made anew on it, as after a restart.
final class TestDevice: Sendable {
    let folder: URL
    let backend = ScriptedBackend()
    let clock = ManualClock()
    let secrets = Locked<[SecretKey: String]>([:])
    let isLocked = Locked(false)
    let storeIsLocked = Locked(false)
    let identifiers = CountingIdentifiers()
    let log = RecordingLog()
    let notifications = FakeNotifications()
    let push = FakePush()
    let environment = FakeEnvironment()
    let router = FakeRouter()
    let scheduling = FakeScheduling()
    let tokens = FakeTokens()
    let activities = FakeActivities()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func configuration() throws -> RichPushConfiguration {
        var configuration = try RichPushConfiguration(backend: URL(string: "https://push.example.org")!)
        configuration.keepsPasswordForSending = true
        return configuration
    }

    func ports(isForApp: Bool = true) throws -> DevicePorts {
        DevicePorts(
            transport: backend, secrets: MemorySecrets(secrets, isForApp: isForApp, isLocked: isLocked),
            store: LockableStore(
                base: try FileSharedStore(folder: folder.appendingPathComponent("records")), isLocked: storeIsLocked),
            cache: try FileContentCache(folder: folder.appendingPathComponent("content")), clock: clock,
            identifiers: identifiers, log: log, power: environment)
    }

    /// A new process of the app.
    func launch(
        _ configuration: RichPushConfiguration? = nil, signInToken: SignInTokenProvider? = nil
    ) async throws -> RichPushEngine {
        let engine = RichPushEngine(
            configuration: try configuration ?? Self.configuration(), device: try ports(),
            app: AppPorts(
                notifications: notifications, push: push, environment: environment, router: router, scheduling: scheduling,
                signInToken: signInToken, activities: activities))
        await engine.start()
        return engine
    }

    /// An app with accounts of its own, whose provider gives `tokens`.
    func launchWithTokens() async throws -> RichPushEngine {
        let engine = try await launch(signInToken: { [tokens] need in try tokens.answer(need) })
        await engine.didRegister(token: "abcdef")
        return engine
    }

    /// A new process of the service extension.
    func launchExtension() throws -> EnrichmentEngine {
        EnrichmentEngine(configuration: try Self.configuration(), device: try ports(isForApp: false))
    }

    /// An app in which alice is signed in and registered.
    func signedIn() async throws -> RichPushEngine {
        let engine = try await launch()
        await engine.didRegister(token: "abcdef")
        try await engine.signIn(user: "alice", password: "secret")
        return engine
    }

    /// Every file in the device's folders.
    var files: [String] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        return (all?.allObjects as? [URL] ?? [])
            .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
            .map(\.path)
    }

    func receipts(_ kind: Receipt.Kind) -> [RichID] { backend.receipts.filter { $0.kind == kind }.map(\.richID) }
}
