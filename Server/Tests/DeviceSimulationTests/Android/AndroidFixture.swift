import ClarionTesting
import Crypto
import Foundation
import Logging
import NIOPosix
import RichPushDevice
import RichPushModel
import Testing

@testable import DeviceSimulation
@testable import FCMEmulation

/// An Android phone with a local FCM that listens nowhere, and a backend that a test holds in its hands.
final class AndroidFixture: Sendable {
    static let project = "clarion-shop"
    private static let account = "sender@clarion-shop.iam.gserviceaccount.com"

    let folder = QuickFolder.new("android")
    let clock = ManualClock()
    let server = FakeServer()
    let fcm: LocalFCM
    let device: SimulatedAndroid
    let phone: AndroidPhone
    private let configuration: SimulatedPhoneConfiguration
    private let bearer: String

    init(_ change: (inout LocalFCMSettings) -> Void = { _ in }) throws {
        var settings = LocalFCMSettings(identity: .init(certificatePEM: "", privateKeyPEM: ""))
        change(&settings)
        let fcm = LocalFCM(
            settings: settings, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: Logger(label: "fcm"))
        try fcm.addProject(Self.project)
        bearer = try fcm.with { state in
            try state.changeProject(Self.project) { $0.accounts[Self.account] = .init(maySend: true) }
            return state.issueAccessToken(
                account: Self.account, scopes: ["https://www.googleapis.com/auth/firebase.messaging"])
        }
        device = try fcm.addDevice("a1", project: Self.project, package: "org.example.app")
        var configuration = SimulatedPhoneConfiguration(
            identity: .init(id: "a1", name: "Alice's phone", model: "Phone", system: .android),
            app: try RichPushConfiguration(backend: try #require(URL(string: "http://127.0.0.1:8080"))),
            bundleID: "org.example.app", folder: folder)
        configuration.app.keepsPasswordForSending = true
        (self.fcm, self.configuration) = (fcm, configuration)
        phone = try AndroidPhone(configuration: configuration, device: device, transport: server, clock: clock)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The same phone as the next run of this program makes it.
    func phoneAgain() throws -> AndroidPhone {
        try AndroidPhone(configuration: configuration, device: device, transport: server, clock: clock)
    }

    /// Switches the phone on, opens the app and signs alice in.
    func signIn() async throws {
        await phone.start()
        try await phone.perform(.openApp)
        try await phone.perform(.signIn(user: "alice", password: "alice"))
    }

    /// As above, and leaves the app.
    func signInAndLeave() async throws {
        try await signIn()
        try await phone.perform(.home)
    }

    @discardableResult
    func store(_ number: Int32, _ bytes: Data? = nil) -> Data {
        let bytes = bytes ?? PhoneFixture.png(UInt8(number))
        server.store(number, bytes, sha256: PhoneFixture.digest(bytes))
        return bytes
    }

    /// Sends a rich notification as the server does (Documentation/FCM.md). Returns the status of FCM's answer.
    @discardableResult
    func push(
        _ number: Int32, for user: String? = "alice", words: [String: String] = ["title": "Shop", "body": "New"],
        android: [String: String] = [:]
    ) throws -> Int {
        let id = try #require(RichID(number: number))
        var data = ["richId": "\(number)", "richType": "img"].merging(words) { $1 }
        data["richFor"] = user.flatMap { SubjectMark(digest: SHA256.hash(data: SubjectMark.message(of: id, for: $0)))?.text }
        return try send(["data": data, "android": ["priority": "HIGH"].merging(android) { $1 }])
    }

    /// Sends a message to the phone's token, or to another.
    @discardableResult
    func send(_ message: [String: [String: String]], to token: String? = nil) throws -> Int {
        var message: [String: Any] = message
        message["token"] = token ?? device.token ?? ""
        let request = GoogleRequest(
            target: "/v1/projects/\(Self.project)/messages:send",
            headers: [("authorization", "Bearer \(bearer)"), ("content-type", "application/json")],
            body: Array(try JSONSerialization.data(withJSONObject: ["message": message])))
        return fcm.handle(request).answer.status
    }

    var notices: [PhoneSnapshot.Notice] { get async { await phone.snapshot.notifications } }

    func receipts(_ kind: Receipt.Kind) -> [Int32] { server.receipts.filter { $0.kind == kind }.map(\.richID.number) }

    func steps(_ kind: StoryStep.Kind) -> [StoryStep] { phone.steps.filter { $0.step == kind } }

    /// Waits until the app is done with so many messages.
    func answered(_ count: Int = 1) async -> Bool {
        await eventually { self.phone.steps.count { $0.detail["answer"] != nil } >= count }
    }

    /// Waits until a step of this kind was recorded whose title has these words.
    func reached(_ kind: StoryStep.Kind, _ words: String = "") async -> Bool {
        await eventually { self.phone.steps.contains { $0.step == kind && (words.isEmpty || $0.title.contains(words)) } }
    }
}
