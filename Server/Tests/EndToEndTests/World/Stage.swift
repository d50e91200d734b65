import DeviceSimulation
import Foundation
import Logging
import RichPushModel
import ServerObservability
import Testing

@testable import LabServices
@testable import ServerSettings

/// Server, local APNs and simulated phones in one process, as `clarion demo` composes them.
struct Stage: Sendable {
    let demo: Demo
    let address: String
    /// The folder of the server, without what the phones keep.
    let serverDirectory: String
    /// What `/metrics` of the node would answer.
    let metrics: PrometheusMetrics

    /// Runs the body on a stage of its own and takes it down afterwards.
    static func open(phones: Int = 1, _ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
        try await TemporaryFolder.use { folder in
            try await open(phones: phones, in: folder, port: try await DemoPort.choose(0), body)
        }
    }

    /// The same in a folder that outlasts it, for a demo that is ended and started again.
    static func open(
        phones: Int = 1, in folder: String, port: Int, _ body: @escaping @Sendable (Stage) async throws -> Void
    ) async throws {
        let metrics = PrometheusMetrics()
        let demo = try await Demo.make(
            directory: folder, port: port, phones: phones, metrics: metrics,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let (listening, isListening) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await demo.run { _ in isListening.yield() } }
            group.addTask {
                for await _ in listening { break }
                try await body(
                    Stage(
                        demo: demo, address: "http://127.0.0.1:\(port)", serverDirectory: folder + "/server",
                        metrics: metrics))
            }
            // The stage runs until it is cancelled: the first to end is the body, or a stage that broke down.
            defer { group.cancelAll() }
            try await group.next()
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    /// The phone with this number, from 1.
    func phone(_ number: Int) -> SimulatedPhone { demo.phones[number - 1] }

    /// A caller of the API; in the demo the password is the name.
    func caller(_ name: String) -> APIClient { APIClient(address: address, user: name, password: name) }

    /// Opens the app and signs in; returns when the device is registered and can be pushed to.
    func signIn(_ name: String, on number: Int) async throws {
        let phone = phone(number)
        try await phone.perform(.openApp)
        try await phone.perform(.signIn(user: name, password: name))
        _ = try await eventually("phone \(number) is signed in as \(name)") {
            await phone.snapshot.user == name ? true : nil
        }
        let hub = demo.node.hub
        let user = try #require(UserName(name))
        _ = try await eventually("phone \(number) is registered at the hub") {
            let token = demo.apns.issueToken(device: String(number), topic: Settings.demoTopic)
            return try await hub.devices(withToken: token).contains { $0.tags.contains(.user(user)) } ? true : nil
        }
    }

    /// Waits until the phone looks as wanted.
    @discardableResult
    func wait(
        for what: Comment, on number: Int, _ isSo: @escaping @Sendable (PhoneSnapshot) -> Bool
    ) async throws -> PhoneSnapshot {
        let phone = phone(number)
        return try await eventually(what, within: .seconds(60)) {
            let snapshot = await phone.snapshot
            return isSo(snapshot) ? snapshot : nil
        }
    }
}
