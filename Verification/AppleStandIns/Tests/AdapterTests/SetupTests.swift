import Foundation
import RichPushModel
@testable import RichPushPlatform
import Security
import Testing
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushContentExtension
@testable import RichPushDevice

/// A mistake in the set-up of an app and the word that a diagnosis has for it.
struct Mistake: Sendable, CustomTestStringConvertible {
    let word: String
    let make: @Sendable (inout SetupFacts) -> Void
    var testDescription: String { word }

    static let all: [Mistake] = [
        Mistake(word: "app-group-missing") { $0.hasAppGroup = false },
        Mistake(word: "app-group-unset") { $0.hasAppGroup = nil },
        Mistake(word: "keychain-unshared") { $0.hasSharedKeychain = false },
        Mistake(word: "extension-missing") { $0.hasServiceExtension = false },
        Mistake(word: "background-mode-missing") { $0.hasRemoteNotificationMode = false },
        Mistake(word: "refresh-task-unlisted") { $0.listsRefreshTask = false },
        Mistake(word: "push-entitlement-missing") { $0.environment = nil },
        Mistake(word: "environment-mismatch") { $0.serverEnvironments = ["production"] },
        Mistake(word: "environment-mismatch") { $0.serverEnvironments = [] },
        Mistake(word: "token-missing") { $0.hasToken = false },
        Mistake(word: "delegate-replaced") { $0.hasDelegate = false },
        Mistake(word: "category-missing") { $0.hasCategory = false },
        Mistake(word: "background-refresh-off") { $0.hasBackgroundRefresh = false },
        Mistake(word: "low-power-mode") { $0.isInLowPowerMode = true },
        Mistake(word: "permission-denied") { $0.permission = "denied" },
        Mistake(word: "permission-unasked") { $0.permission = "notDetermined" },
        Mistake(word: "offers-unheard") { $0.handlesOffers = false },
        Mistake(word: "not-signed-in") { $0.isSignedIn = false },
        Mistake(word: "backend-failed") { $0.backendFailure = "offline" },
    ]

    private init(word: String, make: @escaping @Sendable (inout SetupFacts) -> Void) {
        self.word = word
        self.make = make
    }
}

extension AppleFace {
    @Suite("The set-up of an app")
    @MainActor
    struct Setup {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        @Test("that is right has no findings")
        func sound() {
            var facts = SetupFacts()
            facts.hasAppGroup = true
            facts.environment = "sandbox"
            facts.serverEnvironments = ["sandbox", "production"]
            #expect(Diagnosis(facts).findings.isEmpty && Diagnosis(facts).isSound)
        }

        @Test("names each mistake", arguments: Mistake.all)
        func mistakes(mistake: Mistake) {
            var facts = SetupFacts()
            facts.hasAppGroup = true
            facts.environment = "sandbox"
            mistake.make(&facts)
            #expect(Diagnosis(facts).findings.map(\.id) == [mistake.word])
        }

        @Test(
            "is checked from inside: a group that the key chain refuses, a delegate that was replaced, no screen that handles offers"
        )
        func diagnoses() async throws {
            let delegate = try await phone.signedIn()
            let client = delegate.push
            #expect(await soon { await client.notifications.hasCategory("richPush") })
            #expect(!(await client.diagnose().findings.map(\.id).contains("delegate-replaced")))
            let other = RichPushDelegate()
            phone.center.delegate = other
            FakeKeychain.shared.reset(groups: [])
            FakeSurroundings.shared.setGroups([:])
            UIApplication.shared.fakeRefreshStatus = .denied
            let words = Set(await client.diagnose().findings.map(\.id))
            #expect(
                words.isSuperset(of: [
                    "app-group-missing", "keychain-unshared", "delegate-replaced", "offers-unheard", "background-refresh-off",
                    "background-mode-missing", "refresh-task-unlisted", "extension-missing",
                ]))
            #expect(!words.contains("category-missing") && !words.contains("token-missing"))
            // A delegate that is gone would be found for another reason.
            #expect(client.delegate === delegate)
        }

        @Test(
            "distinguishes the two push services by the profile",
            arguments: [
                ("<key>aps-environment</key>\n\t<string>development</string>", "sandbox"),
                ("x\u{0}<key>aps-environment</key><string>production</string>", "production"),
                ("<key>other</key><string>production</string>", nil), ("", nil),
            ])
        func signing(profile: String, environment: String?) {
            #expect(PushSigning(profile: Data(profile.utf8))?.rawValue == environment)
        }

        @Test("keeps records and content readable on a locked phone, after its first unlock", arguments: [true, false])
        func protection(isForApp: Bool) throws {
            var set: [String: String] = [:]
            _ = try DevicePorts.system(TestPhone.configuration, isForApp: isForApp, log: RecordingLog()) { folders in
                SharedFolder.protect(folders) { attributes, path in
                    #expect(FileManager.default.fileExists(atPath: path))
                    set[path] = (attributes[.protectionKey] as? FileProtectionType)?.rawValue
                }
            }
            let shared = try #require(SharedFolder.inGroup(TestPhone.group))
            #expect(Set(set.keys) == Set([shared.path, shared.path + "/records", shared.path + "/content"]))
            #expect(Set(set.values) == ["NSFileProtectionCompleteUntilFirstUserAuthentication"])
        }

        @Test("with a group that is not in the entitlements cannot be configured")
        func wrongGroup() {
            FakeSurroundings.shared.setGroups([:])
            #expect(throws: SetupError.appGroupMissing(TestPhone.group)) { try SetupError.check(TestPhone.configuration) }
        }

        @Test("with a group that the key chain refuses cannot be configured")
        func refusedGroup() {
            FakeKeychain.shared.reset(groups: [])
            #expect(throws: SetupError.keychainUnshared(TestPhone.group)) { try SetupError.check(TestPhone.configuration) }
        }

        @Test("can be configured before the first unlock of a restarted device")
        func lockedGroup() throws {
            FakeKeychain.shared.setLocked(true)
            try SetupError.check(TestPhone.configuration)
        }

        @Test("without the group's folder the app alone still works")
        func noGroup() async throws {
            FakeSurroundings.shared.setGroups([:])
            let ports = try DevicePorts.system(TestPhone.configuration, isForApp: true, log: RecordingLog())
            #expect(throws: StorageError.self) {
                try DevicePorts.system(TestPhone.configuration, isForApp: false, log: RecordingLog())
            }
            _ = try ports.store.session()
        }

        @Test("gives a request of the extension 20 seconds, and large downloads a place in the App Group")
        func sessions() throws {
            for (isForApp, seconds) in [(true, 60.0), (false, 20.0)] {
                let ports = try DevicePorts.system(TestPhone.configuration, isForApp: isForApp, log: RecordingLog())
                let transport = try #require(ports.transport as? URLSessionTransport)
                #expect(transport.session.configuration.timeoutIntervalForResource == seconds)
            }
            _ = try phone.launch().push.downloads.session
            #expect(FakeSurroundings.shared.sharedContainer == TestPhone.group)
        }

        @Test("speaks the language of the app that its user prefers, in the extension inside it too")
        func appLanguage() throws {
            let app = phone.folder.appendingPathComponent("Shop.app")
            let inside = app.appendingPathComponent("PlugIns/Service.appex")
            for folder in ["de.lproj", "sv.lproj", "PlugIns/Service.appex"] {
                try FileManager.default.createDirectory(
                    at: app.appendingPathComponent(folder), withIntermediateDirectories: true)
            }
            let bundle = try #require(Bundle(url: inside))
            #expect(AppLanguage.current(in: bundle, preferences: ["de-CH", "en"]) == "de")
            #expect(AppLanguage.current(in: bundle, preferences: ["sv"]) == "sv")
            let german = TestPhone.configuration.inUsersLanguage("de")
            #expect(german.moreTitle == "Mehr" && german.neutralText == "Du hast eine neue Nachricht")
            #expect(TestPhone.configuration.inUsersLanguage("fr").moreTitle == "More")
        }

        @Test("words are there in every language, and the button has the user's")
        func languages() throws {
            let client = RichPush(configuration: TestPhone.configuration, device: try phone.ports())
            #expect(client.configuration.moreTitle == "More")
            var own = TestPhone.configuration
            own.moreTitle = "Show me"
            #expect(RichPush(configuration: own, device: try phone.ports()).configuration.moreTitle == "Show me")
        }

        @Test("the content extension shows the picture with the description for users who cannot see it")
        func contentExtension() async throws {
            let controller = RichPushContentViewController()
            controller.loadViewIfNeeded()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).png")
            try Samples.png(1).write(to: file)
            let content = UNMutableNotificationContent()
            content.body = "Words"
            content.userInfo = ["richAltText": "A cat"]
            content.attachments = [try UNNotificationAttachment(identifier: "a", url: file)]
            controller.didReceive(
                UNNotification(fake: UNNotificationRequest(identifier: "r", content: content, trigger: nil)))
            let stack = try #require(controller.view.subviews.first as? UIStackView)
            let picture = try #require(stack.arrangedSubviews.first as? UIImageView)
            #expect(!picture.isHidden && picture.accessibilityLabel == "A cat")
            await controller.decoding?.value
            #expect(picture.image != nil && !picture.isHidden)
            #expect((stack.arrangedSubviews.last as? UILabel)?.text == "Words")
            content.attachments = []
            controller.didReceive(
                UNNotification(fake: UNNotificationRequest(identifier: "r", content: content, trigger: nil)))
            #expect(picture.isHidden && picture.image == nil)
        }
    }
}
