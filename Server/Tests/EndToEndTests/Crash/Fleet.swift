import APNsEmulation
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

@testable import ClarionServer

/// Many devices of one server and the local APNs that knows them.
struct Fleet {
    static let topic = "org.example.app"

    let apns: LocalAPNs
    let options: ServerProcess.Options
    private let records: [RecordID]
    let password = "correct horse battery staple"

    /// Fills a folder, or what several servers share: a user who may send, and `size` devices with the tag `fleet`.
    init(folder: String, size: Int, shared: [String: String] = [:]) async throws {
        let emulator = try EmulatorFolder(path: folder + "/apns", now: SystemClock().now)
        var configuration = LocalAPNsConfiguration()
        configuration.authority = emulator.authority
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
        records = try await Self.fill(try options.settings(), size: size, apns: apns, password: password)
    }

    /// Sends to the whole fleet; the tracking id of the answer.
    func send(through address: String, key: String) async throws -> SendAnswer {
        var request = SendRequest(message: "Hello, fleet")
        request.audience = "fleet"
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

    /// How often each device's push of a send was accepted.
    func acceptances(of send: SendAnswer) throws -> [Int] {
        let id = try #require(NotificationID(send.trackingID))
        let counts = apns.acceptanceCounts
        return records.map { counts[PushID(notification: id, record: $0).uuid] ?? 0 }
    }

    /// The user who may send, at a server.
    func caller(at address: String) -> APIClient { APIClient(address: address, user: "ops", password: password) }

    private static func fill(
        _ settings: Settings, size: Int, apns: LocalAPNs, password: String
    ) async throws -> [RecordID] {
        let users = UserAdministration(settings: settings)
        try await users.add(try #require(UserName("ops")), password: SecretText(password), role: .sender)
        let storage = try await NodeStorage.open(settings, access: .command, clock: .system)
        defer { try? storage.database.close() }
        let devices = storage.hubStores.devices
        let tag = try #require(Tag("fleet"))
        var records: [RecordID] = []
        for start in stride(from: 0, to: size, by: 500) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in start..<min(start + 500, size) {
                    let record = try #require(RecordID("device-\(number)"))
                    records.append(record)
                    let token = apns.issueToken(device: record.text, topic: topic)
                    let handle = try #require(DeviceHandle(token, platform: .apns))
                    group.addTask {
                        _ = try await devices.upsert(
                            DeviceUpsert(id: record, kind: .installation, handle: handle, tags: [tag]), in: storage.hub,
                            at: SystemClock().now)
                    }
                }
                try await group.waitForAll()
            }
        }
        return records
    }
}
