import AsyncHTTPClient
import Foundation
import RichPushDevice
import RichPushModel
import Testing

@testable import DeviceSimulation
@testable import LabServices
@testable import ServerSettings

/// A phone on a stage whose app and extension are processes of their own, with a user of its own.
struct ProcessPhone: Sendable {
    let phone: SimulatedPhone
    let name: String
    let stage: Stage

    /// Runs the body with a phone that is signed in, and switches it off afterwards.
    static func use(
        _ name: String, on stage: Stage, change: (inout SimulatedPhoneConfiguration) -> Void = { _ in },
        _ body: (ProcessPhone) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-phone-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var app = try RichPushConfiguration(backend: #require(URL(string: stage.address)))
        app.keepsPasswordForSending = true
        var configuration = SimulatedPhoneConfiguration(
            identity: .init(id: name, name: name, model: "Phone"), app: app, bundleID: Settings.demoTopic, folder: folder)
        configuration.program = ServerProcess.labProgram
        change(&configuration)
        let phone = try SimulatedPhone(
            configuration: configuration, service: LocalPushService(stage.demo.apns),
            transport: AsyncHTTPTransport(client: .shared, clock: .system))
        await phone.start()
        let result: Result<Void, any Error>
        do {
            let phone = ProcessPhone(phone: phone, name: name, stage: stage)
            try await phone.signIn()
            result = .success(try await body(phone))
        } catch { result = .failure(error) }
        await phone.stop()
        try result.get()
    }

    private func signIn() async throws {
        try await phone.perform(.openApp)
        try await phone.perform(.signIn(user: name, password: name))
        let snapshot = await phone.snapshot
        try #require(snapshot.user == name, "\(snapshot.signIn.error ?? "")")
        let user = try #require(UserName(name))
        let (hub, apns, name) = (stage.demo.node.hub, stage.demo.apns, name)
        _ = try await eventually("\(name) is registered at the hub") {
            let token = apns.issueToken(device: name, topic: Settings.demoTopic)
            return try await hub.devices(withToken: token).contains { $0.tags.contains(.user(user)) } ? true : nil
        }
    }

    /// Sends a picture to this phone's user, which goes through server, hub and local APNs.
    func send(_ style: DeliveryStyle, picture: Data = Picture.random(side: 32)) async throws -> RichID {
        let caller = stage.caller(name)
        let stored = try await caller.call("POST", APIRoute.content, body: picture, headers: ["Content-Type": "image/gif"])
        var request = SendRequest(message: "The words")
        request.title = "The title"
        request.style = style
        request.contentID = try stored.decoded(ContentAnswer.self).id
        request.altText = "Noise"
        let sent = try await caller.call("POST", APIRoute.notifications, json: request)
        try #require(sent.status == 201, "\(String(decoding: sent.body, as: UTF8.self))")
        return try sent.decoded(SendAnswer.self).id
    }

    /// What the server has of this phone, which is one installation: each kind once.
    func receipts(of id: RichID) async throws -> Set<String> {
        let status = try await stage.caller(name).call("GET", APIRoute.status(id)).decoded(SendStatus.self)
        let receipts = status.receipts ?? [:]
        #expect(receipts.values.allSatisfy { $0 <= 1 }, "one installation counts once")
        return Set(receipts.filter { $0.value > 0 }.keys)
    }

    /// Completions that came twice.
    var surplusAnswers: [String] {
        phone.steps.map(\.title).filter { [SimulatedPhone.surplusContent, SimulatedPhone.surplusAnswer].contains($0) }
    }

    /// How the extension ended, for every push so far.
    var extensionEnds: [String] { phone.steps.compactMap { $0.detail["extension"] } }

    /// Waits until nothing is on its way through extension or app.
    func settled(pushes: Int = 1) async throws {
        let phone = phone
        _ = try await eventually("the push of \(name) was dealt with") {
            let delivered = phone.steps.count { $0.step == .delivered }
            let isQuiet = await phone.isQuiet
            return delivered >= pushes && isQuiet ? true : nil
        }
    }

    /// The processes of extensions are collected.
    func expectNoZombie() async throws {
        for process in phone.steps.compactMap({ $0.detail["process"] }) {
            _ = try await eventually("process \(process) is gone") {
                FileManager.default.fileExists(atPath: "/proc/\(process)") ? nil : true
            }
        }
    }
}
