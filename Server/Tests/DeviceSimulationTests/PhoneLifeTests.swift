import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

@Suite("Restart, reinstall, restore and settings")
struct PhoneLifeTests {
    let fixture: PhoneFixture
    var phone: SimulatedPhone { fixture.phone }

    init() throws { fixture = try PhoneFixture() }

    private func files(in folder: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: fixture.folder.appendingPathComponent(folder).path)
        return all?.allObjects as? [String] ?? []
    }

    @Test("before the first unlock nothing is shown of a silent push, and nothing is lost")
    func beforeFirstUnlock() async throws {
        try await fixture.signIn()
        let kept = Set(files(in: "group"))
        try await phone.perform(.restart)
        var snapshot = await phone.snapshot
        #expect(snapshot.screen == .lock)
        #expect(snapshot.beforeFirstUnlock)
        #expect(snapshot.process == .notRunning)
        #expect(snapshot.user == "alice")
        #expect(await eventually { await fixture.service.isConnected })
        fixture.store(7)
        await fixture.silent(7)
        #expect(await fixture.answered())
        #expect(fixture.steps(.woken).last?.detail["answer"] == "failed")
        #expect(await phone.snapshot.notifications.isEmpty)
        #expect(Set(files(in: "group")) == kept)
        await fixture.silent(8)
        #expect(await fixture.answered(2))
        #expect(await phone.snapshot.user == "alice")
        // The push that nothing is shown of has the reason in its story, and the phone says once what it cannot do.
        #expect(await eventually { fixture.steps(.held).count { $0.title.hasPrefix("Nothing is fetched or shown") } == 2 })
        #expect(phone.steps.count { $0.title.hasPrefix("Before the first unlock nothing") } == 1)
        #expect(!phone.steps.contains { $0.title.hasPrefix("Something could not be kept") })
        try await phone.perform(.unlock)
        try await phone.perform(.openApp)
        snapshot = await phone.snapshot
        #expect(!snapshot.beforeFirstUnlock)
        #expect(snapshot.user == "alice")
        #expect(snapshot.screen == .main)
        #expect(snapshot.inbox.map(\.id) == [RichID(number: 7)!])
    }

    @Test("a phone that was off names the signed-in user before its app runs, and none after a sign-out")
    func userOverRestart() async throws {
        try await fixture.signIn()
        await phone.stop()
        let second = try fixture.restarted()
        var snapshot = await second.snapshot
        #expect(snapshot.user == "alice")
        #expect(snapshot.process == .notRunning)
        #expect(snapshot.screen == .home)
        try await second.perform(.openApp)
        snapshot = await second.snapshot
        #expect(snapshot.user == "alice")
        #expect(snapshot.screen == .main)
        try await second.perform(.signOut)
        await second.stop()
        let third = try fixture.restarted()
        #expect(await third.snapshot.user == nil)
        await third.stop()
    }

    @Test("what was read in the sign-in before stays readable after a restart, offline too")
    func cacheAfterRestart() async throws {
        try await fixture.signIn()
        let bytes = fixture.store(7)
        try await phone.perform(.home)
        await fixture.silent(7)
        #expect(await fixture.answered())
        try await phone.perform(.restart)
        try await phone.perform(.setNetwork(offline: true))
        try await phone.perform(.tapNotification(id: "rich-7"))
        let media = try #require(await phone.media(for: RichID(number: 7)!, attachmentOf: nil))
        #expect(try Data(contentsOf: media.file) == bytes)
    }

    @Test(
        "what was delivered is still there after a crash of the phone: texts, picture, buttons and the number on the icon",
        .timeLimit(.minutes(5)))
    func killed() async throws {
        try await fixture.signIn()
        let bytes = fixture.store(7)
        fixture.store(8)
        try await phone.perform(.home)
        for number: Int32 in [7, 8] { await fixture.alert(number) }
        #expect(await fixture.reached(.shown, 2))
        // The number on the icon comes a step after the texts.
        #expect(await eventually { await phone.snapshot.badge == 2 })
        let before = await phone.snapshot
        let orphan = fixture.folder.appendingPathComponent("system/left-behind.png")
        try bytes.write(to: orphan)
        // The phone is not stopped first: its memory is gone, its disk is as it was.
        let after = try fixture.restarted()
        #expect(await after.snapshot.notifications == before.notifications && before.notifications.count == 2)
        #expect(await after.snapshot.badge == before.badge && before.badge == 2)
        let notice = try #require(before.notifications.first { $0.richID == RichID(number: 7) })
        #expect(notice.hasAttachment)
        #expect(!notice.actions.isEmpty)
        let media = try #require(await after.media(for: RichID(number: 7)!, attachmentOf: notice.id))
        #expect(try Data(contentsOf: media.file) == bytes)
        #expect(!FileManager.default.fileExists(atPath: orphan.path))
        try await after.perform(.tapNotification(id: notice.id))
        #expect(await after.snapshot.content?.richID == RichID(number: 7))
        try await after.perform(.clearNotifications)
        let last = try fixture.restarted()
        #expect(await last.snapshot.notifications.isEmpty && files(in: "system").isEmpty)
        await after.stop()
    }

    @Test("the inbox behind a notification that comes over the app is as new as the server's")
    func inboxBehind() async throws {
        try await fixture.signIn()
        fixture.store(7)
        // Sent, and its push was lost on the way.
        fixture.store(6)
        await fixture.alert(7)
        #expect(await eventually { await self.phone.snapshot.inbox.map(\.id.number) == [7, 6] })
        #expect(await phone.snapshot.alert?.richID == RichID(number: 7))
    }

    @Test("a hundred notifications over the app ask the server once more while it is being asked, and the last of them is seen")
    func burst() async throws {
        let fixture = try PhoneFixture { $0.app.offersInForeground = false }
        let phone = fixture.phone
        try await fixture.signIn()
        let before = fixture.server.count("GET", APIRoute.notifications)
        fixture.server.inboxGate.close()
        for number: Int32 in 1...100 {
            fixture.store(number)
            await fixture.alert(number)
        }
        #expect(await phone.seen(100))
        // All that is left under way is the one question.
        #expect(await eventually { await phone.handing == 1 })
        #expect(fixture.server.count("GET", APIRoute.notifications) == before + 1)
        fixture.server.inboxGate.open()
        #expect(await eventually { await phone.isQuiet })
        #expect(fixture.server.count("GET", APIRoute.notifications) == before + 2)
        let inbox = await phone.snapshot.inbox
        #expect(inbox.first?.id == RichID(number: 100))
        #expect(inbox.count == 100)
    }

    @Test("a notification centre that is broken on the disk is empty, and one whose picture is gone keeps its texts")
    func damagedNotices() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.home)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        for name in files(in: "system") {
            try FileManager.default.removeItem(at: fixture.folder.appendingPathComponent("system/" + name))
        }
        let words = try #require(await fixture.restarted().snapshot.notifications.first)
        #expect(words.richID == RichID(number: 7))
        #expect(!words.hasAttachment)
        #expect(words.mediaType == nil)
        try Data("[{".utf8).write(to: fixture.folder.appendingPathComponent("notifications.json"))
        #expect(try await fixture.restarted().snapshot.notifications.isEmpty)
    }

    @Test(
        "a name in the notification centre's file that its shelf gives to nothing is no attachment, and takes nothing along",
        arguments: ["", ".", "..", "../group", "picture.png", "..\0.png", "LINK"])
    func strangeName(name: String) async throws {
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.home)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        let file = fixture.folder.appendingPathComponent("notifications.json")
        var kept = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]])
        #expect((kept[0]["file"] as? String)?.hasSuffix(".png") == true)
        kept[0]["file"] = name
        let picture = fixture.folder.appendingPathComponent("system/picture.png")
        if name == "LINK" {
            let link = "\(UUID().uuidString).png"
            kept[0]["file"] = link
            try FileManager.default.createSymbolicLink(
                at: fixture.folder.appendingPathComponent("system/\(link)"), withDestinationURL: file)
        } else {
            try Data("x".utf8).write(to: picture)
        }
        try JSONSerialization.data(withJSONObject: kept).write(to: file)
        let after = try fixture.restarted()
        let notice = try #require(await after.snapshot.notifications.first)
        #expect(!notice.hasAttachment)
        #expect(notice.mediaType == nil)
        #expect(await after.media(for: RichID(number: 7)!, attachmentOf: notice.id) == nil)
        try await after.perform(.clearNotifications)
        #expect(files(in: ".").contains("system"))
        #expect(!files(in: "group/records").isEmpty)
        await after.stop()
    }

    @Test("the files of a phone can be read by their owner alone")
    func fileModes() async throws {
        let fixture = try PhoneFixture { $0.folder.appendPathComponent("inner") }
        let folder = fixture.folder.appendingPathComponent("inner")
        try await fixture.signIn()
        fixture.store(7)
        try await fixture.phone.perform(.home)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        for path in ["", "system", "group/records", "group/content", "keychain/app", "keychain/group"] {
            #expect(try mode(of: folder.appendingPathComponent(path)) == 0o700, "\(path)")
        }
        #expect(try mode(of: folder.appendingPathComponent("notifications.json")) == 0o600)
        // Written over, also when a phone died while it wrote.
        let draft = folder.appendingPathComponent("notifications.json.new")
        try Data("[".utf8).write(to: draft)
        try await fixture.phone.perform(.dismissNotification(id: #require(await fixture.phone.snapshot.notifications.first).id))
        #expect(!FileManager.default.fileExists(atPath: draft.path))
    }

    private func mode(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test("a push whose keys the app does not understand says so in its first step")
    func remark() async throws {
        try await fixture.signIn()
        await fixture.service.push(#"{"aps":{"alert":"Hello"},"richId":"7","richFro":"x","richType":"imgg"}"#, type: "alert")
        await fixture.alert(8)
        #expect(await fixture.reached(.delivered, 2))
        let remarks = fixture.steps(.delivered).map { $0.detail["remark"] ?? "" }
        #expect(remarks.contains { $0.contains("'richFor' is probably meant") && $0.contains("'richType' is 'imgg'") })
        #expect(remarks.contains(""))
    }

    @Test("an app installed anew is signed out, keeps its installation's name, and registers another token")
    func reinstall() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.home)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        let before = try #require(fixture.registrations.last)
        try await phone.perform(.installApp)
        #expect(await phone.snapshot.notifications.isEmpty)
        #expect(await phone.snapshot.permission == .notDetermined)
        try await phone.perform(.openApp)
        #expect(await phone.snapshot.screen == .signIn)
        #expect(await phone.snapshot.user == nil)
        try await phone.perform(.signIn(user: "alice", password: "alice"))
        let after = try #require(fixture.registrations.last)
        #expect(after.path == before.path)
        #expect(before.token == "AB12")
        #expect(after.token == "AB12C1")
    }

    @Test("a removed app gets no push, cannot be opened, and is back when it is installed")
    func remove() async throws {
        try await fixture.signIn()
        try await phone.perform(.removeApp)
        #expect(files(in: "group").isEmpty)
        #expect(await phone.snapshot.installed == false)
        await fixture.alert(7)
        await fixture.silent(8)
        #expect(await fixture.reached(.held, 2))
        await #expect(throws: PhoneActionError.self) { try await phone.perform(.openApp) }
        await #expect(throws: PhoneActionError.self) { try await phone.perform(.removeApp) }
        let restarted = try fixture.restarted()
        #expect(await restarted.snapshot.installed == false)
        try await restarted.perform(.installApp)
        try await restarted.perform(.openApp)
        #expect(await restarted.snapshot.screen == .signIn)
        await restarted.stop()
    }

    @Test("a phone set up from a backup is signed out: the files came along, the secrets did not; nothing of the user is left")
    func restore() async throws {
        try await fixture.signIn()
        fixture.store(7)
        await fixture.silent(7)
        #expect(await fixture.answered())
        let before = try #require(fixture.registrations.last)
        try await phone.perform(.restoreBackup)
        #expect(!files(in: "group/records/sessions").isEmpty)
        try await phone.perform(.openApp)
        #expect(await phone.snapshot.screen == .signIn)
        #expect(await phone.snapshot.user == nil)
        #expect(files(in: "group/records/sessions").isEmpty)
        #expect(files(in: "group/content/sessions").isEmpty)
        try await phone.perform(.signIn(user: "alice", password: "alice"))
        let after = try #require(fixture.registrations.last)
        #expect(after.path != before.path)
        #expect(after.token == "AB12C1")
        #expect(await phone.snapshot.inbox.map(\.id) == [RichID(number: 7)!])
    }

    @Test("with alerts off nothing is seen and the extension does not run; in a Focus it comes without a banner")
    func alertsAndFocus() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        try await phone.perform(.setAlerts(on: false))
        fixture.store(7)
        await fixture.alert(7)
        #expect(await fixture.reached(.held))
        #expect(await phone.snapshot.notifications.isEmpty)
        #expect(!phone.steps.contains { $0.detail["extension"] != nil })
        try await phone.perform(.setAlerts(on: true))
        try await phone.perform(.setFocus(on: true))
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        let snapshot = await phone.snapshot
        #expect(snapshot.banner == nil)
        #expect(snapshot.notifications.count == 1)
        #expect(snapshot.focus)
    }

    @Test("low power keeps silent pushes away until it ends, and then the newest comes")
    func lowPower() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        try await phone.happen(.idle)
        try await phone.perform(.setLowPower(on: true))
        for number: Int32 in [7, 8] {
            fixture.store(number)
            await fixture.silent(number)
        }
        #expect(await fixture.reached(.held, 2))
        try await phone.perform(.setLowPower(on: false))
        #expect(await fixture.answered())
        #expect(await phone.snapshot.notifications.map(\.richID) == [RichID(number: 8)!])
    }

    @Test("on a slow network an answer takes seconds, and comes")
    func slow() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.setConnection(.slow))
        let clock = fixture.clock
        let start = clock.uptime
        let phone = phone
        let refreshing = Task { try await phone.perform(.refreshInbox) }
        #expect(await eventually { clock.sleeperCount > 0 })
        #expect(await phone.snapshot.inbox.isEmpty)
        #expect(
            await eventually {
                // Time only passes for the network, and not while the phone works: the request's own deadline of 15 s must not come.
                if let next = clock.nextDeadline, next - start < .seconds(14) { clock.advance(by: .milliseconds(10)) }
                return await phone.snapshot.inbox.count == 1
            })
        #expect(clock.uptime - start >= .seconds(3))
        try await refreshing.value
    }

    @Test("the story lies on disk as lines of JSON, one for each step in its order")
    func eventLog() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("story-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        let fixture = try PhoneFixture { $0.eventLog = file }
        try await fixture.signIn()
        fixture.store(7)
        await fixture.silent(7)
        #expect(await fixture.answered())
        await fixture.phone.stop()
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let steps = try lines.map { try JSONDecoder().decode(StoryStep.self, from: Data($0.utf8)) }
        #expect(steps == fixture.phone.steps)
        #expect(steps.map(\.sequence) == Array(1...steps.count))
        #expect(steps.contains { $0.step == .delivered })
    }

    @Test("settings of an older phone are read, and what it did not know is as on a new one")
    func oldMemory() throws {
        let json = #"{"permission":"granted","backgroundRefresh":false,"hidesPreviews":true,"categories":[]}"#
        let memory = try JSONDecoder().decode(SystemMemory.self, from: Data(json.utf8))
        var expected = SystemSettings()
        expected.permission = .granted
        expected.backgroundRefresh = false
        expected.hidesPreviews = true
        #expect(memory.settings == expected)
        #expect(memory.isInstalled)
        #expect(try JSONDecoder().decode(SystemMemory.self, from: JSONEncoder().encode(memory)) == memory)
    }
}

extension PhoneFixture {
    /// The installation updates that the app sent to the server: path and token.
    var registrations: [(path: String, token: String?)] {
        server.state.withLockedValue { $0.requests.filter { $0.method == "PUT" } }.map { request in
            let update = request.body.flatMap { try? JSONDecoder().decode(InstallationUpdate.self, from: $0) }
            return (request.url.path, update?.handle)
        }
    }
}
