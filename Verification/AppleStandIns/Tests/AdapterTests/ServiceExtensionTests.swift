import Foundation
import RichPushModel
import Security
import Testing
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushDevice
@testable import RichPushExtension

extension AppleFace {
    @Suite("The service extension")
    @MainActor
    struct ServiceExtension {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        private static func request(_ number: Int?) -> UNNotificationRequest {
            let content = UNMutableNotificationContent()
            content.title = "New"
            content.body = "As it came"
            content.userInfo = ["aps": ["alert": "x", "mutable-content": 1]]
            content.userInfo["richId"] = number
            return UNNotificationRequest(identifier: "remote", content: content, trigger: nil)
        }

        /// What of a content is compared here.
        private struct Shown: Hashable {
            var title: String, body: String, category: String, thread: String, attached: Data?
            var badge: Int?, sound: String?, isNeutral: Bool

            init(_ content: UNNotificationContent) {
                (title, body, category) = (content.title, content.body, content.categoryIdentifier)
                attached = content.attachments.first.flatMap { try? Data(contentsOf: $0.url) }
                (thread, badge) = (content.threadIdentifier, content.badge?.intValue)
                sound = content.sound.map { $0.fakeFile ?? "default" }
                isNeutral = content.userInfo["richNeutral"] as? Bool == true
            }
        }

        private func deliver(_ number: Int?, to service: TestService) async -> Shown {
            await deliver(Self.request(number), to: service)
        }

        private func deliver(_ request: UNNotificationRequest, to service: RichPushNotificationService) async -> Shown {
            await withCheckedContinuation { continuation in
                service.didReceive(request) { continuation.resume(returning: Shown($0)) }
            }
        }

        @Test("puts the text and the picture of the notification in place of the neutral text")
        func enriches() async throws {
            _ = try await phone.signedIn()
            phone.backend.store(7, bytes: Samples.png(1), thumb: Samples.png(2, count: 500))
            let shown = await deliver(7, to: try phone.launchExtension())
            #expect(shown.title == "Title" && shown.body == "Words" && shown.category == "richPush")
            #expect(shown.attached == Samples.png(2, count: 500))
            #expect(phone.backend.receipts.map(\.kind).contains(.fetched))
        }

        @Test("leaves the original with the button More when nothing can be fetched")
        func offline() async throws {
            _ = try await phone.signedIn()
            phone.backend.setOffline(true)
            let shown = await deliver(7, to: try phone.launchExtension())
            #expect(shown.body == "As it came" && shown.category == "richPush" && shown.attached == nil)
        }

        @Test("shows neutral text before sign-in and after sign-out")
        func signedOut() async throws {
            #expect(await deliver(7, to: try phone.launchExtension()).body == "You have a new message")
            let client = try await phone.signedIn().push
            phone.backend.store(7)
            try await client.signOut()
            #expect(await deliver(7, to: try phone.launchExtension()).body == "You have a new message")
        }

        @Test("leaves the original before the first unlock, when nothing can be read, and deletes nothing")
        func locked() async throws {
            _ = try await phone.signedIn()
            phone.backend.store(7)
            let service = try phone.launchExtension()
            phone.setLocked(true)
            let shown = await deliver(7, to: service)
            #expect(shown.title == "New" && shown.body == "As it came" && shown.category == "richPush")
            phone.setLocked(false)
            #expect(await deliver(7, to: service).body == "Words")
        }

        @Test("takes number, thread and sound of its own away with another's words, and neither from its user's")
        func leavesNothing() async throws {
            _ = try await phone.signedIn()
            phone.backend.store(7)
            let content = try #require(Self.request(7).content.mutableCopy() as? UNMutableNotificationContent)
            content.badge = 3
            content.threadIdentifier = "clinic"
            content.sound = UNNotificationSound(fake: "clinic.caf")
            let pushes = ["27e90420f33712e2", "ca5e2e572d08b18e"].map { mark in
                content.userInfo["richFor"] = mark
                return UNNotificationRequest(identifier: "remote", content: content, trigger: nil)
            }
            let own = await deliver(pushes[0], to: try phone.launchExtension())
            #expect(own.badge == 3 && own.thread == "clinic" && own.sound == "clinic.caf" && !own.isNeutral)
            let other = await deliver(pushes[1], to: try phone.launchExtension())
            #expect(other.badge == nil && other.thread.isEmpty && other.sound == "default" && other.isNeutral)
            #expect(other.category == "richPush")
        }

        @Test("speaks the language of its app, and the app recognises what it made neutral in any")
        func language() async throws {
            // Unchecked because the class that it extends is: it adds no state.
            final class German: RichPushNotificationService, @unchecked Sendable {
                override class var configuration: RichPushConfiguration { TestPhone.configuration }
                override class var language: String { "de" }
            }
            let delegate = try await phone.signedIn()
            FakeKeychain.shared.setOwnGroup("extension")
            let content = try #require(Self.request(7).content.mutableCopy() as? UNMutableNotificationContent)
            content.userInfo["richFor"] = "ca5e2e572d08b18e"
            let shown = await deliver(
                UNNotificationRequest(identifier: "remote", content: content, trigger: nil), to: German())
            #expect(shown.body == "Du hast eine neue Nachricht" && shown.title.isEmpty && shown.isNeutral)
            FakeKeychain.shared.setOwnGroup("app")
            let asked = { @MainActor (isNeutral: Bool) in
                await askToPresent(
                    delegate, richID: "7", body: shown.body, subject: "ca5e2e572d08b18e", isNeutral: isNeutral
                ).0
            }
            #expect(await asked(shown.isNeutral) == [.list])
            #expect(await asked(false) == [])
        }

        @Test("fetches no large picture in low power mode")
        func lowPower() async throws {
            _ = try await phone.signedIn()
            phone.backend.store(7, bytes: Samples.png(1, count: 600_000))
            FakeSurroundings.shared.setLowPower(true)
            #expect(await deliver(7, to: try phone.launchExtension()).attached == nil)
            FakeSurroundings.shared.setLowPower(false)
            #expect(await deliver(7, to: try phone.launchExtension()).attached != nil)
        }

        /// SHA-256 over "clarion subject 1", the number 7 and the name, as the server's own tests have it.
        @Test(
            "replaces the text of a push that says that it is for another", arguments: ["27e90420f33712e2", "ca5e2e572d08b18e"])
        func subject(mark: String) async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            let isHers = mark == "27e90420f33712e2"
            let content = UNMutableNotificationContent()
            (content.title, content.body) = ("Clinic", "Alice, your results are here")
            content.userInfo = ["aps": ["alert": "x", "mutable-content": 1], "richId": "7", "richFor": mark]
            let request = UNNotificationRequest(identifier: "remote", content: content, trigger: nil)
            let shown = await deliver(request, to: try phone.launchExtension())
            #expect(shown.title == (isHers ? "Title" : "") && shown.body == (isHers ? "Words" : "You have a new message"))
            FakeKeychain.shared.setOwnGroup("app")
            #expect(
                await push(TestPhone.payload(7).merging(["richFor": mark]) { $1 }, to: delegate) == (isHers ? .newData : .noData))
        }

        @Test("does not touch what is not ours")
        func foreign() async throws {
            _ = try await phone.signedIn()
            let shown = await deliver(nil, to: try phone.launchExtension())
            #expect(shown.title == "New" && shown.category.isEmpty)
        }

        @Test("outside the App Group leaves everything as it is")
        func noGroup() async throws {
            FakeSurroundings.shared.setGroups([:])
            let service = TestService()
            #expect(await deliver(7, to: service).title == "New")
        }

        @Test("at its expiry hands over the text that it has, once, and before the call returns")
        func expires() async throws {
            _ = try await phone.signedIn()
            phone.backend.store(7)
            let gate = Gate()
            phone.backend.state.with { $0.gates["notifications/7$"] = gate }
            let service = try phone.launchExtension()
            let answers = Answers<String>()
            service.didReceive(Self.request(7)) { answers.add($0.title + "/" + $0.body) }
            let backend = phone.backend
            #expect(await soon { backend.count("GET", "/notifications/7") == 1 })
            await expire(service)
            #expect(answers.values == ["Title/Words"])
            await gate.open()
            await settle()
            #expect(answers.values.count == 1)
        }

        /// On a thread of the system, which may be blocked for a moment.
        private func expire(_ service: TestService) async {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    service.serviceExtensionTimeWillExpire()
                    continuation.resume()
                }
            }
        }

        /// What a push that waits hands over, in order.
        private func pendingContent() -> (PendingContent, Answers<String>) {
            let answers = Answers<String>()
            let original = UNMutableNotificationContent()
            original.body = "You have a new message"
            return (PendingContent(original: original) { answers.add($0.body) }, answers)
        }

        @Test("hands over the original when there is nothing else at the end, and nothing afterwards")
        func tooLate() {
            let (pending, answers) = pendingContent()
            pending.waitOrDeliverOriginal(until: .now())
            #expect(answers.values == ["You have a new message"])
            pending.deliver(NotificationContent(body: "Words"))
            pending.waitOrDeliverOriginal(until: .now())
            #expect(answers.values == ["You have a new message"])
        }

        @Test("does not wait at the end for what it has handed over already")
        func inTime() {
            let (pending, answers) = pendingContent()
            pending.deliver(NotificationContent(body: "Words"))
            let start = ContinuousClock.now
            pending.waitOrDeliverOriginal(until: .now() + .seconds(6))
            #expect(answers.values == ["Words"])
            // A mistake would wait for all of the time; else it is a matter of microseconds.
            #expect(ContinuousClock.now - start < .seconds(5))
        }

        @Test("hands over the original where the system's content cannot be edited")
        func notEditable() {
            // `@unchecked` is safe: it adds no state to its superclass, and one task uses it.
            final class Fixed: UNNotificationContent, @unchecked Sendable {
                override func mutableCopy(with zone: NSZone? = nil) -> Any { self }
            }
            let answers = Answers<String>()
            let pending = PendingContent(original: Fixed()) { answers.add($0.body + "!") }
            pending.deliver(NotificationContent(body: "Words"))
            #expect(answers.values == ["!"])
        }

        @Test("serves several pushes in one process")
        func several() async throws {
            _ = try await phone.signedIn()
            for number in 1...5 { phone.backend.store(Int32(number), message: "Words \(number)") }
            let service = try phone.launchExtension()
            let answers = Answers<String>()
            for number in 1...5 { service.didReceive(Self.request(number)) { answers.add($0.body) } }
            #expect(await soon { answers.values.count == 5 })
            #expect(Set(answers.values) == Set((1...5).map { "Words \($0)" }))
        }

        @Test("ends within its budget although the network is stuck")
        func stuck() async throws {
            _ = try await phone.signedIn()
            let clock = ManualClock()
            let gate = Gate()
            phone.backend.state.with { $0.gates["details"] = gate }
            let service = try phone.launchExtension(clock: clock)
            let answers = Answers<String>()
            service.didReceive(Self.request(7)) { answers.add($0.body) }
            let backend = phone.backend
            #expect(await soon { backend.count("GET", "/details") == 1 && clock.sleeperCount > 0 })
            await settle()
            clock.advance(by: .seconds(25))
            #expect(await soon { !answers.values.isEmpty })
            await gate.open()
            await settle()
            #expect(answers.values == ["As it came"])
        }
    }
}
