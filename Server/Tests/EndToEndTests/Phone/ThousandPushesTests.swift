import AsyncHTTPClient
import ClarionTesting
import Foundation
import RichPushDevice
import RichPushModel
import Testing

@testable import DeviceSimulation
@testable import LabServices
@testable import ServerSettings

/// A thousand pushes to a phone that goes offline, is restarted, set up anew and handed to another user at random.
struct ThousandPushesTests {
    private static let topic = Settings.demoTopic
    private static let count = 1_000
    /// How many of them come while nothing else happens, half of these without a way to the backend.
    private static let quiet = 360
    /// Far below what comes, so that each cap is reached.
    private static let (inboxCount, contentCount, outboxCount) = (40, 30, 60)

    /// A phone in memory, if there is such a place: it writes tens of thousands of records through to the disk.
    private static func phone(on stage: Stage, folder: URL, log: URL) throws -> SimulatedPhone {
        var app = try RichPushConfiguration(backend: #require(URL(string: stage.address)))
        app.keepsPasswordForSending = true
        app.limits.inboxCount = inboxCount
        app.limits.outboxCount = outboxCount
        var configuration = SimulatedPhoneConfiguration(
            identity: .init(id: "shared", name: "shared", model: "Phone"), app: app, bundleID: topic, folder: folder)
        configuration.contentLimits.count = contentCount
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
            for _ in 0..<(Self.count - Self.quiet) { try await life.step() }
            let files = folder.appending(path: "phone")
            try await life.end(inboxCount: Self.inboxCount)
            let abandoned = Self.incoming(files)
            try await life.rest(pushes: Self.quiet / 2)
            try Self.expectBounds(files, part: "/details/", Self.inboxCount)
            try Self.expectBounds(files, part: "/shown/", Self.inboxCount)
            // A record lies beside each.
            try Self.expectBounds(files, part: "/files/", 2 * Self.contentCount)
            await phone.loseBackend(to: .offline)
            try await life.rest(pushes: Self.quiet / 2)
            // What is written down after the last try to send waits for the next one.
            try Self.expectBounds(files, part: "/outbox/", Self.outboxCount + 10)
            await phone.loseBackend(to: .online)
            try await life.end(inboxCount: Self.inboxCount)
            try await Self.expectInbox(of: phone, stage, sent: life.sent["alice", default: []])
            // A process that was killed leaves its downloads for an hour. One that ended by itself leaves none.
            _ = try await eventually("each push that ended removed its downloads", within: .seconds(30)) {
                Self.incoming(files).isSubset(of: abandoned) ? true : nil
            }
            await phone.stop()
            try Self.expectStory(log, sent: life.sent)
            try Self.expectBounds(files)
        }
    }

    /// The server lists all that was sent, page by page; the phone keeps the newest of it.
    private static func expectInbox(of phone: SimulatedPhone, _ stage: Stage, sent: [RichID]) async throws {
        try await phone.perform(.refreshInbox)
        let inbox = await phone.snapshot.inbox
        #expect(inbox.map(\.id) == Array(sent.sorted(by: >).prefix(inboxCount)))
        #expect(inbox.allSatisfy { $0.message.hasPrefix("for alice") })
        #expect(await phone.snapshot.notifications.allSatisfy { RandomLife.isFor("alice", $0) })
        var (listed, next): ([RichID], String?) = ([], nil)
        repeat {
            let path = APIRoute.notifications + "?limit=100" + (next.map { "&before=\($0)" } ?? "")
            let page = try await stage.caller("alice").call("GET", path).decoded(InboxPage.self)
            listed += page.notifications.map(\.id)
            next = page.notifications.isEmpty ? nil : page.next
        } while next != nil
        #expect(listed == sent.sorted(by: >), "\(listed.count) of \(sent.count)")
    }

    /// The paths of downloads that are under way, or that a killed process left.
    private static func incoming(_ folder: URL) -> Set<String> {
        let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
        return Set(all.filter { $0.contains("/incoming/") })
    }

    /// A cap that was reached and held: so many came that without it there would be more.
    private static func expectBounds(_ folder: URL, part: String, _ limit: Int) throws {
        let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
        let count = all.count { $0.contains(part) }
        #expect((limit / 2...limit).contains(count), "\(part) has \(count), and may have \(limit)")
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
        #expect(count("/files/") <= 2 * contentCount)
        #expect(count("/details/") <= inboxCount)
        #expect(count("/shown/") <= inboxCount)
        #expect(count("/claims/") <= 64)
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
    private static let neutral = "You have a new message"

    init(phone: SimulatedPhone, stage: Stage, random: SeededGenerator) {
        self.phone = phone
        self.stage = stage
        self.random = random
    }

    /// Whether a user may see it: words for them, or those that say nothing.
    static func isFor(_ user: String, _ notice: PhoneSnapshot.Notice) -> Bool {
        notice.body.hasPrefix("for \(user)") || notice.body == neutral
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
        if Int.random(in: 0..<6, using: &random) == 0 { try await happen() }
        await expectOwnWords()
    }

    /// The signed-in user sees nothing of the other, in the list or as a question.
    private func expectOwnWords() async {
        let (user, snapshot) = (user, await phone.snapshot)
        guard snapshot.user == user else { return }
        #expect(snapshot.notifications.allSatisfy { Self.isFor(user, $0) }, "\(user): \(snapshot.notifications.map(\.body))")
        let question = snapshot.alert?.message
        #expect(question.map { $0.hasPrefix("for \(user)") || $0 == Self.neutral } ?? true, "\(user): \(question ?? "")")
    }

    /// The app is in the background and nothing happens but pushes, until they have been dealt with.
    mutating func rest(pushes: Int) async throws {
        try await phone.perform(.home)
        let phone = phone
        for _ in 0..<pushes {
            try await send(to: "alice")
            // One after the other: of background pushes that wait the system keeps the newest only.
            _ = try await eventually("the push was dealt with", within: .seconds(30)) { [last = sent["alice"]?.last] in
                let isDelivered = phone.steps.contains { $0.step == .delivered && $0.richID == last }
                let isQuiet = await phone.isQuiet
                return isDelivered && isQuiet ? true : nil
            }
        }
        await expectOwnWords()
    }

    private mutating func send(to name: String) async throws {
        number += 1
        var request = SendRequest(message: "for \(name) \(number)")
        request.style = [DeliveryStyle.silent, .alert, .both].randomElement(using: &random)
        // Words that travel through Apple are the ones that a push for the other could show.
        request.preview = Bool.random(using: &random) ? .open : .neutral
        request.contentID = contents[name]
        request.altText = "Noise"
        let answer = try await stage.caller(name).call("POST", APIRoute.notifications, json: request)
        try #require(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        sent[name, default: []].append(try answer.decoded(SendAnswer.self).id)
    }

    /// What cannot be done in the state that the phone is in is left out, as a user would.
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
    mutating func end(inboxCount: Int) async throws {
        try await phone.perform(.setLowPower(on: false))
        try await signIn("alice")
        let phone = phone
        let newest = Array(sent["alice", default: []].sorted(by: >).prefix(inboxCount))
        _ = try await eventually("the newest of alice's pushes are in her inbox", within: .seconds(90)) {
            try? await phone.perform(.refreshInbox)
            return await phone.snapshot.inbox.map(\.id) == newest ? true : nil
        }
    }
}
