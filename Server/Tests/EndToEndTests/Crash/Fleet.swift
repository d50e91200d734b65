import APNsEmulation
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

@testable import LabServices
@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

/// When a server is killed in a send: after a time, or when so many pushes were taken.
enum KillMoment {
    case after(Duration)
    case pushes(Int)

    /// Waits for the moment, for at most 30 s: a send whose request found no server has no pushes.
    func wait(taken: () -> Int) async {
        switch self {
        case .after(let delay): try? await Task.sleep(for: delay)
        case .pushes(let count):
            let end = ContinuousClock.now + .seconds(30)
            while taken() < count, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(2)) }
        }
    }
}

/// Many devices of one server and the local APNs that knows them.
struct Fleet {
    static let topic = "org.example.app"

    let apns: LocalAPNs
    let options: ServerProcess.Options
    /// Its devices, and the token of each.
    let records: [RecordID]
    let tokens: [String]
    let password = "correct horse battery staple"

    /// Fills a folder, or what several servers share: a user who may send, and `size` devices with the tag `fleet`. Who reads the
    /// exchanges of the local APNs misses none while at most `unread` of them wait.
    init(folder: String, size: Int, shared: [String: String] = [:], unread: Int = 10_000) async throws {
        let emulator = try EmulatorFolder(path: folder + "/apns", now: SystemClock().now)
        var configuration = LocalAPNsConfiguration()
        configuration.authority = emulator.authority
        configuration.retention.observerQueue = unread
        apns = try LocalAPNs(
            configuration: configuration, clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "apns"))
        try apns.registerKey(
            teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, publicKeyPEM: emulator.publicKeyPEM)
        try apns.registerApp(bundleID: Self.topic, teamID: EmulatorFolder.teamID)
        var options = ServerProcess.Options(
            dataDirectory: folder + "/data", apnsPort: try await apns.start().port, signingKeyPath: emulator.signingKeyPath,
            trustRootsPath: emulator.authorityPath)
        options.shared = shared
        self.options = options
        records = try (0..<size).map { try #require(RecordID("device-\($0)")) }
        tokens = records.map { [apns] in apns.issueToken(device: $0.text, topic: Self.topic) }
        try await fill(try options.settings())
    }

    /// Sends to the whole fleet; the tracking id of the answer.
    func send(
        through address: String, key: String, _ change: (inout SendRequest) -> Void = { _ in }
    ) async throws -> SendAnswer {
        var request = SendRequest(message: "Hello, fleet")
        request.audience = "fleet"
        change(&request)
        let answer = try await caller(at: address).call(
            "POST", APIRoute.notifications, json: request, headers: ["Idempotency-Key": key])
        try #require(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        return try answer.decoded(SendAnswer.self)
    }

    /// Starts so many servers on what they share, each with a data directory of its own.
    func start(_ count: Int, _ settings: [String: String] = [:]) async throws -> [ServerProcess] {
        try await withThrowingTaskGroup(of: (Int, ServerProcess).self) { group in
            for number in 1...count { group.addTask { (number, try await start(number: number, settings)) } }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Starts one of several servers, for the first time or again.
    func start(number: Int, _ settings: [String: String] = [:]) async throws -> ServerProcess {
        var options = options
        options.shared.merge(settings) { $1 }
        options.dataDirectory += "-\(number)"
        return try await ServerProcess(options)
    }

    func status(of send: SendAnswer, at address: String) async throws -> SendStatus {
        try await caller(at: address).call("GET", APIRoute.status(send.id)).decoded(SendStatus.self)
    }

    /// How many distinct pushes were accepted so far, over all sends.
    var acceptedPushes: Int { apns.acceptanceCounts.count }

    /// How many pushes to its tokens were accepted so far, repeats included.
    var accepted: Int { tokens.reduce(0) { $0 + apns.requests(for: $1).accepted } }

    /// How often each device's push of a send was accepted.
    func acceptances(of send: SendAnswer) throws -> [Int] {
        let id = try #require(NotificationID(send.trackingID))
        let counts = apns.acceptanceCounts
        return records.map { counts[PushID(notification: id, record: $0).uuid] ?? 0 }
    }

    /// The user who may send, at a server.
    func caller(at address: String) -> APIClient { APIClient(address: address, user: "ops", password: password) }

    private func fill(_ settings: Settings) async throws {
        let storage = try await NodeStorage.open(settings, access: .beginning, clock: .system)
        defer { try? storage.database.close() }
        let users = UserAdministration(settings: settings)
        try await users.add(try #require(UserName("ops")), password: SecretText(password), role: .sender)
        let devices = storage.hubStores.devices
        let tag = try #require(Tag("fleet"))
        for start in stride(from: 0, to: records.count, by: 500) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in start..<min(start + 500, records.count) {
                    let handle = try #require(DeviceToken(tokens[number], platform: .apns))
                    let upsert = DeviceUpsert(id: records[number], kind: .installation, handle: handle, tags: [tag])
                    group.addTask { _ = try await devices.upsert(upsert, in: storage.hub, at: SystemClock().now) }
                }
                try await group.waitForAll()
            }
        }
    }
}
