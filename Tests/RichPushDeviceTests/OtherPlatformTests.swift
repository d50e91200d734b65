import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("An app on a platform whose pushes are data alone")
struct OtherPlatformTests {
    private static let token = "fid:APA91b_aZ-9"
    let device: TestDevice

    init() throws { device = try TestDevice() }

    /// alice is signed in on a phone of this platform.
    private func signedIn() async throws -> RichPushEngine {
        await device.environment.set(platform: Platform(rawValue: "fcmv1"))
        let engine = try await device.launch()
        await engine.didRegister(token: Self.token)
        try await engine.signIn(user: "alice", password: "secret")
        return engine
    }

    private func push(_ data: [String: String] = [:]) throws -> PushEnvelope {
        let standard = ["richId": "7", "richType": "img", "title": "Shop", "body": "New", "thread": "news"]
        return try #require(PushEnvelope(data: standard.merging(data) { $1 }))
    }

    private var lastUpdate: InstallationUpdate? {
        device.backend.requests.last { $0.method == "PUT" }?.body.flatMap {
            try? JSONDecoder().decode(InstallationUpdate.self, from: $0)
        }
    }

    @Test("registers its platform, its token as the system gave it, and nothing that only Apple has")
    func registration() async throws {
        _ = try await signedIn()
        let update = try #require(lastUpdate)
        #expect(update.platform == "fcmv1")
        #expect(update.handle == Self.token)
        #expect(update.topic == nil)
        #expect(update.environment == nil)
    }

    @Test("of Apple registers the topic, the environment and an upper-case token")
    func apple() async throws {
        _ = try await device.signedIn()
        let update = try #require(lastUpdate)
        #expect(update.platform == "apns")
        #expect(update.handle == "ABCDEF")
        #expect(update.topic == "org.example.app")
        #expect(update.environment == "production")
    }

    @Test("registers again when only the case of its token has changed")
    func otherCase() async throws {
        let engine = try await signedIn()
        await engine.didRegister(token: Self.token.lowercased())
        #expect(await eventually { lastUpdate?.handle == Self.token.lowercased() })
    }

    @Test("shows the server's texts under the thread of the push")
    func shown() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        #expect(await engine.handleBackgroundPush(try push(), budget: .seconds(30)) == .newData)
        let content = try #require(await device.notifications.presented.first).content
        #expect(content.title == "Title")
        #expect(content.body == "Words")
        #expect(content.thread == "news")
    }

    @Test("shows the texts of the push when nothing can be fetched")
    func offline() async throws {
        let engine = try await signedIn()
        device.backend.setOffline(true)
        let push = try push(["subtitle": "Today", "richMessage": "Look"])
        #expect(await engine.handleBackgroundPush(push, budget: .seconds(30)) == .failed)
        let content = try #require(await device.notifications.presented.first).content
        #expect(
            content
                == NotificationContent(
                    title: "Shop", subtitle: "Today", body: "New", thread: "news", category: "richPush", badge: 0))
    }

    @Test("shows the server's texts with the sound and the number of the push, and the number stands")
    func soundAndBadge() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        let before = await device.notifications.badge
        #expect(await engine.handleBackgroundPush(try push(["sound": "chime", "badge": "3"]), budget: .seconds(30)) == .newData)
        let content = try #require(await device.notifications.presented.first).content
        #expect(content.sound == "chime")
        #expect(content.badge == 3)
        #expect(await device.notifications.badge == before)
    }

    @Test("without sound and number in the push is silent, and counts what is unread")
    func silent() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        #expect(await engine.handleBackgroundPush(try push(), budget: .seconds(30)) == .newData)
        let content = try #require(await device.notifications.presented.first).content
        #expect(content.sound == nil)
        #expect(content.badge == 1)
        #expect(await device.notifications.badge == 1)
    }

    @Test("shows the sound and the number of the push when nothing can be fetched")
    func offlineSound() async throws {
        let engine = try await signedIn()
        device.backend.setOffline(true)
        _ = await engine.handleBackgroundPush(try push(["sound": "default", "badge": "3"]), budget: .seconds(30))
        let content = try #require(await device.notifications.presented.first).content
        #expect(content.sound == "default")
        #expect(content.badge == 3)
    }

    @Test("shows neutral text in place of them when the notification is sealed")
    func sealed() async throws {
        let engine = try await signedIn()
        device.backend.setOffline(true)
        let push = try push(["richType": "sealed", "sound": "ann.caf", "badge": "3"])
        _ = await engine.handleBackgroundPush(push, budget: .seconds(30))
        let content = try #require(await device.notifications.presented.first).content
        #expect(content.saysOnly("You have a new message"))
        #expect(content.isNeutral)
        #expect(content.sound == "default", "a sender's own sound may reveal whom it is for")
        #expect(content.badge == 0, "the number of the sender is dropped")
    }

    @Test("shows neutral text in place of them on a shared phone when the push says not whose it is")
    func shared() async throws {
        let engine = try await signedIn()
        try await engine.signIn(user: "bob", password: "hidden")
        device.backend.setOffline(true)
        _ = await engine.handleBackgroundPush(try push(), budget: .seconds(30))
        let content = try #require(await device.notifications.presented.last).content
        #expect(content.title.isEmpty)
        #expect(content.thread == nil)
        #expect(content.body == "You have a new message")
    }
}
