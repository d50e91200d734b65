import AsyncHTTPClient
import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushDevice
import RichPushModel
import Testing

@testable import ClarionServer

/// A thousand pushes to a phone that goes offline, is restarted, set up anew and handed to another user at random.
struct ThousandPushesTests {
    private static let topic = Settings.demoTopic
    private static let count = 1_000
    private static let users = ["alice", "bob"]

    /// A phone in memory, if there is such a place: it writes tens of thousands of records through to the disk.
    private static func phone(on stage: Stage, folder: URL, log: URL) throws -> SimulatedPhone {
        var app = try RichPushConfiguration(backend: #require(URL(string: stage.address)))
        app.keepsPasswordForSending = true
        app.limits.inboxCount = 1_200
        var configuration = SimulatedPhoneConfiguration(
            identity: .init(id: "shared", name: "shared", model: "Phone"), app: app, bundleID: topic, folder: folder)
        configuration.eventLog = log
        configuration.suspensionDelay = .milliseconds(50)
        return try SimulatedPhone(
            configuration: configuration, service: LocalPushService(stage.demo.apns),
            transport: AsyncHTTPTransport(client: .shared, clock: .system))
    }

    @Test("the inbox is what was sent, nothing is shown twice, nothing of another user's, and the storage stays bounded")
    func thousand() async throws {
        var random = SeededGenerator()
        print("A thousand pushes with TEST_SEED=\(random.seed)")
        let root = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let folder = URL(filePath: root).appending(path: "clarion-thousand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let seed = random.next()
        try await Stage.open { stage in
            let log = folder.appending(path: "story.jsonl")
            let phone = try Self.phone(on: stage, folder: folder.appending(path: "phone"), log: log)
            var life = RandomLife(phone: phone, stage: stage, random: SeededGenerator(seed: seed))
            await phone.start()
            try await life.begin()
            for _ in 0..<Self.count { try await life.step() }
            try await life.end()
            try await Self.expectInbox(of: phone, sent: life.sent["alice", default: []])
            await phone.stop()
            try Self.expectStory(log, sent: life.sent)
            try Self.expectBounds(folder.appending(path: "phone"))
        }
    }

    private static func expectInbox(of phone: SimulatedPhone, sent: [RichID]) async throws {
        try await phone.perform(.refreshInbox)
        let inbox = await phone.snapshot.inbox
        #expect(inbox.map(\.id) == sent.sorted(by: >), "\(inbox.count) of \(sent.count)")
        #expect(inbox.allSatisfy { $0.message.hasPrefix("for alice") })
        #expect(await phone.snapshot.notifications.allSatisfy { RandomLife.isFor("alice", $0) })
    }

    private static func expectStory(_ log: URL, sent: [String: [RichID]]) throws {
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        let steps = try lines.map { try JSONDecoder().decode(StoryStep.self, from: Data($0.utf8)) }
        let shown = steps.filter { $0.title == "The phone shows the notification" }.compactMap(\.richID)
        let times = Dictionary(grouping: shown, by: \.self).mapValues(\.count)
        #expect(times.values.allSatisfy { $0 == 1 }, "shown twice: \(times.filter { $0.value > 1 }.keys.sorted())")
        // Most pushes found the phone, else little was tried.
        #expect(shown.count > count / 10, "\(shown.count)")
        #expect(Set(shown).isSubset(of: Set(sent.values.joined())))
    }

    private static func expectBounds(_ folder: URL) throws {
        let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
        let count = { (part: String) in all.count { $0.contains(part) } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/group/records/sessions").count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/group/content/sessions").count == 1)
        // The cache has 200 files and a record beside each.
        #expect(count("/files/") <= 400)
        #expect(count("/details/") <= 1_200 && count("/shown/") <= 1_200 && count("/outbox/") <= 500)
        #expect(count("/claims/") <= 64 && count("/incoming/") <= 20)
        // The list of the system keeps 100, each with one attachment at most.
        #expect(count("system/") <= 100)
        #expect(count("keychain/") <= 8)
        #expect(!all.contains { $0.contains("removed-") || $0.contains("upload-") })
    }
}

/// What happens to the phone, drawn from a seed.
struct RandomLife {
    let phone: SimulatedPhone
    let stage: Stage
    var random: SeededGenerator
    private(set) var sent: [String: [RichID]] = [:]
    private var user = "alice"
    private var number = 0
    private var contents: [String: String] = [:]

    init(phone: SimulatedPhone, stage: Stage, random: SeededGenerator) {
        self.phone = phone
        self.stage = stage
        self.random = random
    }

    /// Whether a user may see it: words for them, or those that say nothing.
    static func isFor(_ user: String, _ notice: PhoneSnapshot.Notice) -> Bool {
        notice.body.hasPrefix("for \(user)") || notice.body == "You have a new message"
    }

    mutating func begin() async throws {
        for name in ["alice", "bob"] {
            let picture = Picture.random(side: 16)
            let stored = try await stage.caller(name).call(
                "POST", APIRoute.content, body: picture, headers: ["Content-Type": "image/gif"])
            contents[name] = try stored.decoded(ContentAnswer.self).id
        }
        try await signIn("alice")
    }

    /// A push, and now and then something else.
    mutating func step() async throws {
        try await send(to: Int.random(in: 0..<5, using: &random) == 0 ? "bob" : "alice")
        guard Int.random(in: 0..<6, using: &random) == 0 else { return }
        try await happen()
        let user = user
        let notices = await phone.snapshot.notifications
        if await phone.snapshot.user == user {
            #expect(notices.allSatisfy { Self.isFor(user, $0) }, "\(user) sees \(notices.map(\.body))")
        }
    }

    private mutating func send(to name: String) async throws {
        number += 1
        var request = SendRequest(message: "for \(name) \(number)")
        request.style = [DeliveryStyle.silent, .alert, .both].randomElement(using: &random)
        if Int.random(in: 0..<10, using: &random) == 0 { request.contentID = contents[name] }
        request.altText = request.contentID == nil ? nil : "Noise"
        let answer = try await stage.caller(name).call("POST", APIRoute.notifications, json: request)
        try #require(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        sent[name, default: []].append(try answer.decoded(SendAnswer.self).id)
    }

    /// What cannot be done in the state that the phone is in is left out, as a person would.
    private mutating func happen() async throws {
        let plain: [PhoneAction] = [
            .setConnection(.offline), .setConnection(.online), .home, .openApp, .lock, .unlock, .terminate, .endApp, .restart,
            .unlock, .openApp, .setConnection(.online), .clearNotifications, .setLowPower(on: true), .setLowPower(on: false),
        ]
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try await replace(.installApp)
        case 1: try await replace(.restoreBackup)
        case 2: try await signIn(user == "alice" ? "bob" : "alice")
        case 3: if let id = await phone.snapshot.notifications.first?.id { try? await phone.perform(.tapNotification(id: id)) }
        case 4: if let id = await phone.snapshot.notifications.last?.id { try? await phone.perform(.dismissNotification(id: id)) }
        default: if let action = plain.randomElement(using: &random) { try? await phone.perform(action) }
        }
    }

    private mutating func replace(_ action: PhoneAction) async throws {
        try await phone.perform(action)
        try await signIn(user)
    }

    private mutating func signIn(_ name: String) async throws {
        try await phone.perform(.setConnection(.online))
        try await phone.perform(.unlock)
        try await phone.perform(.openApp)
        if let other = await phone.snapshot.user {
            user = other
            if other == name { return }
            try await phone.perform(.signOut)
        }
        try await phone.perform(.signIn(user: name, password: name))
        let snapshot = await phone.snapshot
        try #require(snapshot.user == name, "\(snapshot.signIn.error ?? "")")
        user = name
    }

    /// Everything is well again, and alice looks at her inbox.
    mutating func end() async throws {
        try await phone.perform(.setLowPower(on: false))
        try await signIn("alice")
        let phone = phone
        _ = try await eventually("all of alice's pushes are in her inbox", within: .seconds(90)) { [sent] in
            try? await phone.perform(.refreshInbox)
            return await phone.snapshot.inbox.count >= sent["alice", default: []].count ? true : nil
        }
    }
}
