import Foundation
import RichPushModel
import Testing
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushDevice

extension AppleFace {
    @Suite("A silent push")
    @MainActor
    struct SilentPush {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        @Test("becomes a notification with its text, its picture and the button More")
        func becomesNotification() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7, bytes: Samples.png(9))
            #expect(await push(TestPhone.payload(7), to: delegate) == .newData)
            let shown = phone.center.fake { $0.shown }
            let request = try #require(shown.first)
            #expect(shown.count == 1 && request.identifier == "rich-7")
            #expect(request.content.title == "Title" && request.content.body == "Words")
            #expect(request.content.categoryIdentifier == "richPush")
            #expect(request.content.sound != nil)
            #expect(request.content.userInfo["richAltText"] as? String == "A picture")
            let picture = try #require(request.content.attachments.first)
            #expect(try Data(contentsOf: picture.url) == Samples.png(9))
            #expect(phone.center.fake { $0.badge } == 1)
            let category = try #require(phone.center.fake { $0.categories }.first { $0.identifier == "richPush" })
            #expect(category.actions.map(\.identifier) == ["richPushMore"])
            #expect(category.actions.allSatisfy { $0.options.contains(.foreground) })
            #expect(category.options.contains(.customDismissAction))
        }

        @Test("is answered once, on the main thread")
        func answeredOnce() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            let answers = Answers<UIBackgroundFetchResult>()
            delegate.application(.shared, didReceiveRemoteNotification: TestPhone.payload(7)) { answers.add($0) }
            #expect(await soon { !answers.values.isEmpty })
            await settle()
            #expect(answers.values == [.newData])
            #expect(answers.allOnMain)
        }

        @Test("that comes twice is shown once")
        func duplicate() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            #expect(await push(TestPhone.payload(7), to: delegate) == .newData)
            #expect(await push(TestPhone.payload(7), to: delegate) == .noData)
            #expect(phone.center.fake { $0.added.count } == 1)
        }

        @Test("that comes twice at once is fetched once")
        func concurrentDuplicate() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            async let first = push(TestPhone.payload(7), to: delegate)
            async let second = push(TestPhone.payload(7), to: delegate)
            _ = await (first, second)
            #expect(phone.backend.count("GET", "/notifications/7") == 1)
            #expect(phone.center.fake { $0.added.count } == 1)
        }

        @Test("that cannot be fetched shows its own text, and the answer is honest")
        func offline() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.setOffline(true)
            #expect(await push(TestPhone.payload(7), to: delegate) == .failed)
            let request = try #require(phone.center.fake { $0.shown }.first)
            #expect(request.content.body == "Check this image out!")
            #expect(request.content.categoryIdentifier == "richPush")
        }

        @Test("is answered when no user is signed in")
        func signedOut() async throws {
            let delegate = try phone.launch()
            #expect(await push(TestPhone.payload(7), to: delegate) == .noData)
            #expect(phone.backend.requests.isEmpty)
        }

        @Test(
            "that is not one of ours is answered, whatever it holds",
            arguments: ["", "x", "0", "-1", "99999999999", "../../etc/passwd"])
        func notOurs(id: String) async throws {
            let delegate = try await phone.signedIn()
            #expect(await push(["aps": ["content-available": 1], "richId": id], to: delegate) == .noData)
            #expect(await push(["richId": Date(), "richType": ["x"]], to: delegate) == .noData)
            #expect(phone.backend.count("GET", "/details") == 0)
        }

        @Test("whose picture the system refuses is shown without it")
        func refusedAttachment() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            phone.center.fake { $0.refusesAttachments = true }
            #expect(await push(TestPhone.payload(7), to: delegate) == .newData)
            let request = try #require(phone.center.fake { $0.shown }.first)
            #expect(request.content.attachments.isEmpty && request.content.body == "Words")
        }

        @Test("is not shown by an app that may not show anything, and the answer is honest")
        func denied() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            phone.center.fake { $0.status = .denied }
            #expect(await push(TestPhone.payload(7), to: delegate) == .newData)
            #expect(phone.center.fake { $0.shown.isEmpty })
            #expect(phone.log.kinds.contains(.presentFailed))
        }

        @Test("in the foreground asks OK / More instead")
        func foreground() async throws {
            let delegate = try await phone.signedIn()
            let offers = Locked<[ContentOffer]>([])
            delegate.push.attach(show: { _ in }, offer: { offer in offers.with { $0.append(offer) } })
            UIApplication.shared.fakeState = .active
            phone.backend.store(7)
            #expect(await push(TestPhone.payload(7), to: delegate) == .newData)
            #expect(phone.center.fake { $0.added.isEmpty })
            #expect(offers.with { $0.map(\.message) } == ["Words"])
        }
    }
}
