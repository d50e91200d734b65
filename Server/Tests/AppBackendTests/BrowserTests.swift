import Crypto
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Testing
import WireText

@testable import AppBackend

/// Browsers as devices of users.
@Suite struct BrowserTests {
    private static let page = "https://shop.example/app/"
    private static let keys =
        Base64URL.text(of: Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)) + " "
        + Base64URL.text(of: Array(repeating: 7, count: 16))

    private static func handle(_ name: String = "a", host: String = "updates.push.services.mozilla.com") -> String {
        "https://\(host)/wpush/v2/\(name) \(keys)"
    }

    private static func update(_ handle: String? = handle(), page: String? = page) -> InstallationUpdate {
        InstallationUpdate(platform: "browser", handle: handle, topic: page)
    }

    private static func test() async throws -> TestBackend {
        try await TestBackend { $0.webPush = WebPushTerms(publicKey: "key") }
    }

    private static func register(
        _ update: InstallationUpdate, as id: String = "browser", for principal: Principal, _ test: TestBackend
    ) async throws -> InstallationAnswer {
        try await test.backend.putInstallation(id: try #require(InstallationID(id)), update: update, for: principal)
    }

    @Test("a browser is a device of its user, with its page, and its keys are in no list")
    func registers() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        #expect(try await Self.register(Self.update(), for: ann, test).credential != nil)
        let device = try #require(test.hub.devices.values.first)
        #expect(device.platform == .browser)
        #expect(device.handle?.text == Self.handle())
        #expect(device.topic == Self.page)
        let entry = try #require(try await test.backend.devices(ofUser: nil, for: ann).devices.first)
        #expect(entry.platform == "browser")
        #expect(entry.handle == "updates.push.services.mozilla.com")
    }

    @Test("pages subscribe with the keys of the hub, where it has its own")
    func ownKeys() async throws {
        let test = try await Self.test()
        #expect(try await test.backend.webPushTerms().publicKey == "key")
        let pair = HubBrowserCredential(subject: "mailto:a@example.com", publicKey: "o+w/n=", privateKey: "secret")
        _ = try await test.hubs.create(try #require(HubName("own")), HubChange(credentials: [.set(.browser(pair))]))
        test.clock.advance(by: HubCatalog.freshness)
        #expect(try await test.backend.webPushTerms().publicKey == "o-w_n", "as the page's subscription spells it")
    }

    @Test("only a device of Apple's learns for which environments of APNs the server has a credential")
    func environments() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        var parts = test.backend.parts
        parts.pushEnvironments = { ["sandbox"] }
        let backend = RichPushBackend(parts: parts)
        func environments(of update: InstallationUpdate, _ id: String) async throws -> [String]? {
            try await backend.putInstallation(id: try #require(InstallationID(id)), update: update, for: ann).environments
        }
        #expect(try await environments(of: InstallationUpdate(handle: "0A0B", tags: []), "iphone") == ["sandbox"])
        #expect(try await environments(of: Self.update(), "browser") == nil)
        #expect(try await environments(of: InstallationUpdate(platform: "fcmv1", handle: "t:1"), "android") == nil)
    }

    @Test("an Android device is a device of its user, and its token is taken as it is")
    func android() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        let token = "c" + String(repeating: "x", count: 21) + ":APA91b" + String(repeating: "Y_-", count: 40)
        _ = try await Self.register(InstallationUpdate(platform: "fcmv1", handle: token), as: "android", for: ann, test)
        let device = try #require(test.hub.devices.values.first)
        #expect(device.platform == .fcmv1 && device.handle?.text == token)
        let entry = try #require(try await test.backend.devices(ofUser: nil, for: ann).devices.first)
        #expect(entry.handle == String(token.prefix(6)))
    }

    @Test(
        "an Android device with what belongs to an iPhone is refused, and so is a token with a blank",
        arguments: [
            InstallationUpdate(platform: "fcmv1", handle: "t", environment: "sandbox"),
            InstallationUpdate(platform: "fcmv1", handle: "t", topic: "com.example.app"),
            InstallationUpdate(platform: "fcmv1", handle: "a b"), InstallationUpdate(platform: "android", handle: "t"),
        ])
    func refusedAndroid(update: InstallationUpdate) async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await Self.register(update, for: ann, test) } == .invalidField)
    }

    @Test("a rich notification is one send to every platform")
    func sends() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        _ = try await Self.register(Self.update(), for: ann, test)
        _ = try await test.send(ann)
        #expect(test.hub.sends.map(\.command.reachesEveryPlatform) == [true])
    }

    @Test("a hub elsewhere gets sends for Apple's devices, and takes no browser")
    func hubElsewhere() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        test.hub.decidesNoMore()
        _ = try await test.send(ann)
        #expect(test.hub.sends.map(\.command.reachesEveryPlatform) == [false])
        #expect(await code { _ = try await Self.register(Self.update(), for: ann, test) } == .notFound)
    }

    @Test("a server without VAPID keys takes no browser, and has no key for one")
    func withoutKeys() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await Self.register(Self.update(), for: ann, test) } == .notFound)
        #expect(await code { _ = try await test.backend.webPushTerms() } == .notFound)
    }

    @Test(
        "what is no subscription of an allowed push service is refused",
        arguments: [
            "https://evil.example/push \(keys)", "https://push.services.mozilla.com.evil.example/x \(keys)",
            "http://127.0.0.1/x \(keys)", "https://updates.push.services.mozilla.com/x", "00FC13ADFF785122", "",
            "https://updates.push.services.mozilla.com/x AAAA BBBB", "https://updates.push.services.mozilla.com/x \(keys) more",
            "https://user@updates.push.services.mozilla.com/x \(keys)",
            "https://updates.push.services.mozilla.com/x \(keys) AAAAAAAAAAA", "https://10.1/ \(keys)",
            "http://updates.push.services.mozilla.com/x \(keys)",
        ])
    func refusedSubscription(handle: String) async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await Self.register(Self.update(handle), for: ann, test) } == .invalidField)
        #expect(test.hub.devices.isEmpty)
    }

    @Test(
        "the page of a browser is an address with https, or of this machine",
        arguments: [
            ("https://shop.example/", true), ("http://localhost:8080/app", true), ("http://127.0.0.1/", true),
            ("http://shop.example/", false), ("javascript:alert(1)", false), ("https://shop.example/#x", false), ("/app", false),
            ("https://shop.example/" + String(repeating: "a", count: 256), false), ("com.example.app", false),
        ])
    func page(page: String, isPage: Bool) async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        let refusal = await code { _ = try await Self.register(Self.update(page: page), for: ann, test) }
        #expect(refusal == (isPage ? nil : .invalidField))
    }

    @Test("a browser has no environment of APNs and no sealing key")
    func appleOnly() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        var (environment, sealed) = (Self.update(), Self.update())
        environment.environment = "sandbox"
        sealed.sealingKey = Data(repeating: 1, count: 32).base64EncodedString()
        for update in [environment, sealed] {
            #expect(await code { _ = try await Self.register(update, for: ann, test) } == .invalidField)
        }
    }

    @Test("a later subscription of the same browser takes the place of the former one")
    func resubscribes() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        _ = try await Self.register(Self.update(), for: ann, test)
        _ = try await Self.register(Self.update(Self.handle("b")), for: ann, test)
        #expect(test.hub.devices.values.map(\.handle?.text) == [Self.handle("b")])
    }

    @Test("after a change of user the same browser gets nothing of the former one")
    func changeOfUser() async throws {
        let test = try await Self.test()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await Self.register(Self.update(), for: ann, test)
        _ = try await Self.register(Self.update(), for: bob, test)
        let device = try #require(test.hub.devices.values.first)
        #expect(test.hub.devices.count == 1)
        #expect(device.tags.map(\.text) == ["username:bob"])
    }

    @Test("an explanation speaks of the browser and its push service")
    func explanation() async throws {
        let test = try await Self.test()
        let ann = try await test.user("ann")
        _ = try await Self.register(Self.update(), for: ann, test)
        let send = try await test.send(ann)
        test.hub.refusePushes(because: "status 400")
        test.hub.completeAll(order: try await test.order())
        let found = try await test.backend.explain(send, toUser: "ann", for: try await test.admin())
        #expect(found.finding.sentence == "The push service refused the push: status 400.")
        #expect(found.finding.nextStep == "Documentation/WebPush.md explains the answers of push services.")
    }

    @Test("no cause speaks of APNs to a browser or an Android device", arguments: ExplanationCause.allCases)
    func causes(cause: ExplanationCause) {
        for sentence in ["APNs took the push.", "The hub has no record: APNs said so."] {
            for platform in [Platform.browser, .fcmv1] {
                #expect(!Explanation.Finding(cause, sentence).of(platform).sentence.contains("APNs"))
            }
        }
    }

    @Test("a stolen subscription that another user registers leaves the first user, who can see it")
    func theft() async throws {
        let test = try await Self.test()
        let (ann, eve) = (try await test.user("ann"), try await test.user("eve"))
        _ = try await Self.register(Self.update(), for: ann, test)
        _ = try await Self.register(Self.update(), as: "other", for: eve, test)
        #expect(test.hub.devices.values.map(\.tags) == [[.user(eve.name)]])
        let list = try await test.backend.devices(ofUser: nil, for: ann)
        #expect(list.devices.isEmpty)
        #expect(list.takenOver?.map(\.id) == ["browser"])
    }
}
