import Foundation
import RichPushModel
import Testing
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushDevice

extension AppleFace {
    @Suite("What the user does with a notification")
    @MainActor
    struct Tap {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        private func receipts(_ kind: Receipt.Kind) -> [RichID] {
            phone.backend.receipts.filter { $0.kind == kind }.map(\.richID)
        }

        @Test(
            "arrives once, on the main thread, and opens the content",
            arguments: [
                UNNotificationDefaultActionIdentifier, "richPushMore",
            ])
        func opens(action: String) async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            let shown = Locked<[OpenedContent]>([])
            delegate.push.attach(show: { content in shown.with { $0.append(content) } })
            let answers = await respond(delegate, to: 7, action)
            #expect(await soon { shown.with { $0.last?.state } == .ready })
            #expect(shown.with { $0.map(\.state) } == [.loading, .ready])
            #expect(answers.values == [true] && answers.allOnMain)
            #expect(await soon { receipts(.opened) == [id(7)] })
            #expect((receipts(.action) == [id(7)]) == (action == "richPushMore"))
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
        }

        @Test("reports a dismissal to the server and opens nothing")
        func dismisses() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            let shown = Locked<[OpenedContent]>([])
            delegate.push.attach(show: { content in shown.with { $0.append(content) } })
            _ = await respond(delegate, to: 7, UNNotificationDismissActionIdentifier)
            #expect(await soon { receipts(.dismissed) == [id(7)] })
            #expect(shown.with { $0.isEmpty })
        }

        @Test("keeps an answer to a sealed push to itself, also when nothing of it could be fetched")
        func sealed() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            phone.backend.setOffline(true)
            _ = await respond(delegate, to: 7, "richPushReply", text: "Secret", kind: "sealed")
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
            phone.backend.setOffline(false)
            _ = try await delegate.push.refresh()
            #expect(phone.backend.count("POST", "/7/replies") == 0)
        }

        @Test("sends an answer, and opens nothing")
        func replies() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            let answers = await respond(delegate, to: 7, "richPushReply", text: "On my way")
            #expect(answers.values == [true] && answers.allOnMain)
            #expect(await soon { phone.backend.count("POST", "/7/replies") == 1 })
            #expect(delegate.push.router.contents.isEmpty)
            #expect(await soon { UIApplication.shared.fakeOpenTasks.isEmpty })
        }

        @Test("waits for the screens when it started the app")
        func coldStart() async throws {
            _ = try await phone.signedIn()
            phone.backend.store(7)
            let restarted = try phone.launch()
            #expect(phone.center.delegate === restarted)
            _ = await respond(restarted, to: 7, UNNotificationDefaultActionIdentifier)
            #expect(await soon { restarted.push.router.contents.last?.state == .ready })
            let shown = Locked<[OpenedContent]>([])
            restarted.push.attach(show: { content in shown.with { $0.append(content) } })
            #expect(shown.with { $0.map(\.state) } == [.ready])
        }

        @Test("opens the picture that belongs to it, not the newest")
        func older() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7, bytes: Samples.png(1))
            phone.backend.store(8, bytes: Samples.png(2))
            _ = await push(TestPhone.payload(7), to: delegate)
            _ = await push(TestPhone.payload(8), to: delegate)
            let shown = Locked<[OpenedContent]>([])
            delegate.push.attach(show: { content in shown.with { $0.append(content) } })
            _ = await respond(delegate, to: 7, UNNotificationDefaultActionIdentifier)
            #expect(await soon { shown.with { !$0.isEmpty } })
            let file = try #require(shown.with { $0.last?.content?.file })
            #expect(try Data(contentsOf: file) == Samples.png(1))
        }

        @Test("is answered for a notification that is not ours")
        func foreign() async throws {
            let delegate = try await phone.signedIn()
            #expect(await respond(delegate, to: 0, UNNotificationDefaultActionIdentifier).values == [true])
        }

        @Test("over the app: a rich push goes to the list while the app asks OK / More")
        func presents() async throws {
            let delegate = try await phone.signedIn()
            let offers = Locked<[ContentOffer]>([])
            delegate.push.attach(show: { _ in }, offer: { offer in offers.with { $0.append(offer) } })
            let rich = await askToPresent(delegate, richID: "7")
            #expect(rich.0 == [.list] && rich.onMain)
            #expect(offers.with { $0.map(\.richID) } == [id(7)])
            let foreign = await askToPresent(delegate, richID: nil)
            #expect(foreign.0 == [.banner, .list, .sound] && foreign.onMain)
        }

        @Test("OK closes the question, More opens the content")
        func answersOffer() async throws {
            let delegate = try await phone.signedIn()
            phone.backend.store(7)
            let shown = Locked<[OpenedContent]>([])
            delegate.push.attach(show: { content in shown.with { $0.append(content) } }, offer: { _ in })
            let offer = ContentOffer(richID: id(7), title: nil, message: "Words")
            await delegate.push.answer(offer, more: false)
            #expect(shown.with { $0.isEmpty })
            await delegate.push.answer(offer, more: true)
            #expect(shown.with { $0.last?.state } == .ready)
        }
    }
}
