import ClarionTesting
import Crypto
import DeviceSimulation
import Foundation
import RichPushDevice
import RichPushModel
import Testing

/// A phone in a folder of its own with a push service and a backend that a test holds in its hands.
final class PhoneFixture: Sendable {
    let folder: URL
    let service = FakePushService()
    let server = FakeServer()
    let clock = ManualClock()
    let phone: SimulatedPhone

    init(_ change: (inout SimulatedPhoneConfiguration) -> Void = { _ in }) throws {
        folder = QuickFolder.new("phone")
        phone = try Self.makePhone(folder, service, server, clock, change)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The same phone after it was switched off and on.
    func restarted() throws -> SimulatedPhone { try Self.makePhone(folder, service, server, clock) { _ in } }

    private static func makePhone(
        _ folder: URL, _ service: FakePushService, _ server: FakeServer, _ clock: ManualClock,
        _ change: (inout SimulatedPhoneConfiguration) -> Void
    ) throws -> SimulatedPhone {
        var app = try RichPushConfiguration(backend: try #require(URL(string: "http://127.0.0.1:8080")))
        app.keepsPasswordForSending = true
        var configuration = SimulatedPhoneConfiguration(
            identity: .init(id: "p1", name: "Alice's phone", model: "Phone"), app: app, bundleID: FakePushService.topic,
            folder: folder)
        change(&configuration)
        return try SimulatedPhone(configuration: configuration, service: service, transport: server, clock: clock)
    }

    /// Switches the phone on, opens the app and signs alice in.
    func signIn() async throws {
        try await start()
        try await phone.perform(.openApp)
        try await phone.perform(.signIn(user: "alice", password: "alice"))
    }

    func start() async throws {
        await phone.start()
        #expect(await eventually { await self.service.isConnected })
    }

    @discardableResult
    func store(_ number: Int32, _ bytes: Data? = nil) -> Data {
        let bytes = bytes ?? Self.png(UInt8(number))
        server.store(number, bytes, sha256: Self.digest(bytes))
        return bytes
    }

    static func digest(_ bytes: Data) -> String { SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined() }

    static func png(_ seed: UInt8) -> Data {
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(repeating: seed, count: 500)
    }

    func silent(_ number: Int32) async {
        await service.push(
            #"{"aps":{"content-available":1},"richId":"\#(number)","richMessage":"Look","richType":"img"}"#, type: "background")
    }

    func alert(_ number: Int32, wakes: Bool = false, collapseID: String? = nil) async {
        await service.push(
            """
            {"aps":{"alert":{"body":"You have a new message"},"mutable-content":1,"category":"richPush","thread-id":"t"\
            \(wakes ? #","content-available":1"# : "")},"richId":"\(number)","richType":"img"}
            """, type: "alert", collapseID: collapseID)
    }

    /// Waits until the story holds as many steps of a kind.
    func reached(_ kind: StoryStep.Kind, _ count: Int = 1) async -> Bool {
        await eventually { self.phone.steps.count { $0.step == kind } >= count }
    }

    func steps(_ kind: StoryStep.Kind) -> [StoryStep] { phone.steps.filter { $0.step == kind } }

    /// Waits until the app has answered the system for as many background pushes.
    func answered(_ count: Int = 1) async -> Bool {
        await eventually { self.phone.steps.count { $0.detail["answer"] != nil } >= count }
    }
}
