import BackgroundTasks
import Foundation
import Observation
import RichPushModel
import Security
import Testing
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushDevice
@testable import RichPushPlatform

extension AppleFace {
    @Suite("An account on the phone")
    @MainActor
    struct Account {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        @Test("registers at launch without asking the user anything, and sends the token as hexadecimal text")
        func registers() async throws {
            let delegate = try await phone.signedIn()
            #expect(await soon { UIApplication.shared.fakeRegistrations > 0 })
            #expect(phone.center.fake { $0.asked.isEmpty })
            #expect(await soon { await delegate.push.engine.token == "0abc" })
            #expect(await soon { lastUpdate?.handle == "0ABC" })
        }

        private var lastUpdate: InstallationUpdate? {
            phone.backend.requests.last { $0.method == "PUT" }?.body
                .flatMap { try? JSONDecoder().decode(InstallationUpdate.self, from: $0) }
        }

        @Test("keeps its secrets readable after the first unlock on this device only, and the password away from the extension")
        func secrets() async throws {
            _ = try await phone.signedIn()
            let items = FakeKeychain.shared.all
            #expect(items.values.allSatisfy { $0.accessible == "cku" })
            let service = "richpush https://push.example.org"
            #expect(items["\(TestPhone.group) \(service) credential"] != nil)
            #expect(items["\(TestPhone.group) \(service) installation-id"] != nil)
            #expect(items["app \(service) password"] != nil)
            let others = try phone.ports(isForApp: false).secrets
            #expect(try others.secret(.credential) == "credential-1")
            #expect(try others.secret(.password) == nil)
            #expect(try others.secret(.sealingKey) != nil)
            #expect(items["\(TestPhone.group) \(service) sealing-key"] != nil)
        }

        @Test("notifies views that observe it when a user has signed in")
        func observed() async throws {
            let push = try phone.launch().push
            #expect(await soon { push.state == .signedOut })
            let changes = Answers<Bool>()
            withObservationTracking {
                _ = push.state
            } onChange: {
                changes.add(true)
            }
            try await push.signIn(user: "alice", password: "secret")
            #expect(changes.values == [true])
            #expect(push.user == "alice")
        }

        @Test("with a token is signed in when the call returns, without a password")
        func token() async throws {
            let push = try phone.launch().push
            try await push.signIn(token: "token.of.alice")
            #expect(push.user == "alice")
            #expect(FakeKeychain.shared.all.keys.allSatisfy { !$0.hasSuffix("password") })
        }

        @Test("of a user whom the app has already is signed in with a token of the app's closure")
        func asked() async throws {
            let push = try phone.launch(signInToken: { _ in "token.of.alice" }).push
            try await push.signIn()
            #expect(push.user == "alice")
        }

        @Test("is signed out when the app is asked for a token and has no user any more")
        func noUser() async throws {
            let push = try phone.launch(signInToken: { _ in nil }).push
            try await push.signIn(token: "token.of.alice")
            await #expect(throws: RichPushError.notSignedIn) { try await push.signIn() }
            #expect(push.state == .signedOut)
        }

        @Test("whose app has a token of another user now shows that user, and nothing of the one before")
        func replaced() async throws {
            let delegate = try phone.launch(signInToken: { _ in "token.of.bob" })
            let forgotten = Answers<Bool>()
            delegate.push.attach(show: { _ in }, forget: { forgotten.add(true) })
            try await delegate.push.signIn(token: "token.of.alice")
            phone.backend.state.with { $0.credentials = [] }
            _ = try? await delegate.push.refresh()
            #expect(await soon { delegate.push.user == "bob" })
            #expect(forgotten.values == [true])
        }

        @Test("before the first unlock no user is signed in and nothing is deleted")
        func locked() async throws {
            _ = try await phone.signedIn()
            let before = FakeKeychain.shared.all.count
            FakeKeychain.shared.setLocked(true)
            let secrets = try phone.ports().secrets
            #expect(throws: StorageError.locked) { try secrets.secret(.credential) }
            #expect(throws: StorageError.locked) { try secrets.removeSecret(.credential) }
            FakeKeychain.shared.setLocked(false)
            #expect(FakeKeychain.shared.all.count == before)
        }

        @Test("is still there after a restart")
        func restart() async throws {
            _ = try await phone.signedIn()
            let delegate = try phone.launch()
            phone.backend.store(7)
            #expect(await push(TestPhone.payload(7), to: delegate) == .newData)
            #expect(await soon { delegate.push.user == "alice" })
        }

        @Test("that signs out leaves no secret, no content, no notification and no number on the icon")
        func signOut() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            _ = await push(TestPhone.payload(7), to: delegate)
            let foreign = UNNotificationRequest(identifier: "host", content: UNNotificationContent(), trigger: nil)
            phone.center.fake { $0.shown.append(foreign) }
            try await delegate.push.signOut()
            #expect(FakeKeychain.shared.all.keys.allSatisfy { $0.hasSuffix("installation-id") || $0.hasSuffix("served-user") })
            #expect(phone.center.fake { $0.shown.map(\.identifier) } == ["host"])
            #expect(phone.center.fake { $0.badge } == 0)
            let files = FileManager.default.enumerator(at: phone.folder, includingPropertiesForKeys: [.isRegularFileKey])
            let left = (files?.allObjects as? [URL] ?? [])
                .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
            #expect(left.isEmpty)
            #expect(await push(TestPhone.payload(7), to: delegate) == .noData)
            #expect(UIApplication.shared.fakeOpenTasks.isEmpty)
        }

        @Test("that signs out says how many answers the server did not get, and nothing of them stays")
        func lostAnswers() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            _ = try await delegate.push.refresh()
            phone.backend.setOffline(true)
            let answer = NotificationResponse(identifier: "rich-7", richID: id(7), action: .reply("On my way"))
            await delegate.push.engine.didRespond(answer)
            let result = try await delegate.push.signOut()
            #expect(result.lostReplies == 1)
            #expect(phone.log.all.last { $0.kind == .undelivered }?.detail["replies"] == "1")
            let files = FileManager.default.enumerator(at: phone.folder, includingPropertiesForKeys: nil)
            let left = (files?.allObjects as? [URL] ?? []).compactMap { try? Data(contentsOf: $0) }
            #expect(left.allSatisfy { $0.range(of: Data("On my way".utf8)) == nil })
        }

        @Test("what waited for the screens of one user is not shown to the next")
        func nextUser() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            _ = await respond(delegate, to: 7, UNNotificationDefaultActionIdentifier)
            #expect(await soon { delegate.push.router.contents.last?.state == .ready })
            try await delegate.push.signIn(user: "bob", password: "hidden")
            let shown = Locked<[OpenedContent]>([])
            delegate.push.attach(show: { content in shown.with { $0.append(content) } })
            #expect(shown.with { $0.isEmpty })
        }

        @Test("sends its tags, keeps them, and takes refused ones back")
        func tags() async throws {
            let client = try await phone.signedIn().push
            try await client.tags.set(["beta", "lang:sv"])
            #expect(lastUpdate?.tags.map(\.description) == ["beta", "lang:sv"])
            await #expect(throws: RichPushError.badTag) { try await client.tags.set(["no blanks"]) }
            phone.backend.script { $0.method == "PUT" ? .success(ScriptedBackend.problem(400)) : nil }
            await #expect(throws: RichPushError.self) { try await client.tags.set(["username:bob"]) }
            #expect(await client.tags.current == ["beta", "lang:sv"])
        }

        @Test("keeps the host app's own categories")
        func categories() async throws {
            let own = UNNotificationCategory(
                identifier: "host", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: "")
            phone.center.setNotificationCategories([own])
            _ = try phone.launch()
            let center = phone.center
            #expect(await soon { center.fake { Set($0.categories.map(\.identifier)) } == ["host", "richPush"] })
        }

        @Test("asks for permission when the app says so", arguments: [true, false])
        func permission(provisional: Bool) async throws {
            let client = try await phone.signedIn().push
            phone.center.fake { $0.status = .notDetermined }
            #expect(await client.permission == .notDetermined)
            #expect(await client.requestPermission(provisional: provisional) == (provisional ? .provisional : .granted))
            #expect(phone.center.fake { $0.asked.first?.contains(.provisional) } == provisional)
        }

        @Test("reports what happens to all listeners")
        func events() async throws {
            let client = try phone.launch().push
            var events = client.events.makeAsyncIterator()
            try await client.signIn(user: "alice", password: "secret")
            var kinds: [DeviceEvent.Kind] = []
            while !kinds.contains(.signedIn), let event = await events.next() { kinds.append(event.kind) }
            #expect(kinds.last == .signedIn)
        }

        @Test("is refreshed in the background, and reports completion to the system once")
        func backgroundRefresh() async throws {
            _ = try await phone.signedIn()
            let task = BGAppRefreshTask(fake: TestPhone.refreshTask)
            phone.backend.store(7)
            BGTaskScheduler.shared.fakeLaunch(task)
            #expect(await soon { task.fakeEnds == [true] })
            task.expirationHandler?()
            await settle()
            #expect(task.fakeEnds == [true])
            #expect(BGTaskScheduler.shared.fakeRequests == [TestPhone.refreshTask, TestPhone.refreshTask])
        }

        @Test("that signed out without a network is ended on the server when the app comes to the foreground")
        func signedOutOffline() async throws {
            let client = try await phone.signedIn().push
            phone.backend.setOffline(true)
            try await client.signOut()
            #expect(phone.backend.state.with { !$0.credentials.isEmpty })
            phone.backend.setOffline(false)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await soon { phone.backend.state.with { $0.credentials.isEmpty } })
        }

        @Test("is refreshed when the app comes to the foreground")
        func foreground() async throws {
            let client = try await phone.signedIn().push
            phone.backend.store(7)
            NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            #expect(await soon { (try? await client.inbox().entries.count) == 1 })
        }
    }
}
