import AVKit
import Foundation
import RichPushModel
import SwiftUI
import Testing

@testable import RichPushApp
@testable import RichPushDevice
@testable import RichPushUI

extension AppleFace {
    @Suite("The views")
    @MainActor
    struct Views {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        private func file(_ bytes: Data = Samples.png(1), _ mediaType: String = "image/png") throws -> CachedContent {
            let file = phone.folder.appendingPathComponent(UUID().uuidString)
            try bytes.write(to: file)
            return CachedContent(file: file, mediaType: mediaType, byteCount: Int64(bytes.count))
        }

        private func opened(_ kind: ContentKind, _ change: (inout OpenedContent) throws -> Void) throws -> FakeNode {
            var content = OpenedContent(richID: id(7), kind: kind, message: "Words", state: .ready)
            content.title = "Title"
            try change(&content)
            return fakeScreen(RichPushContentView(content) {})
        }

        @Test("show a picture with the sender's words for those who cannot see it")
        func picture() throws {
            let screen = try opened(.image) {
                $0.content = try file()
                $0.altText = "A cat"
            }
            #expect(screen.first("id", "richpush.picture")?.attributes["label"] == "A cat")
            #expect(screen.texts == ["Title", "Words"])
            let unnamed = try opened(.image) { $0.content = try file() }
            #expect(unnamed.first("id", "richpush.picture")?.attributes["label"] == "Picture without description")
        }

        @Test("say of an encrypted content that it is, and of no other")
        func encrypted() throws {
            #expect(try opened(.text) { $0.isSealed = true }.first("id", "richpush.encrypted") != nil)
            #expect(try opened(.text) { _ in }.first("id", "richpush.encrypted") == nil)
        }

        /// What a content becomes that was fetched, as a screen gets it.
        private func fetched(_ kind: ContentKind, _ bytes: Data, _ mediaType: String, named name: String?) async throws
            -> OpenedContent
        {
            let client = try await phone.signedIn().push
            phone.backend.store(7, kind: kind, bytes: bytes, mediaType: mediaType)
            phone.backend.state.with { $0.stored[id(7)]?.entry.content?.fileName = name }
            return await client.open(id(7))
        }

        @Test(
            "give a player a file that it can play, with the ending of its type",
            arguments: [
                (ContentKind.sound, "audio/mpeg", Data("ID3 song".utf8), "mp3"),
                (.video, "video/mp4", Data([0, 0, 0, 9]) + Data("ftypisom".utf8), "mp4"),
            ])
        func playable(kind: ContentKind, mediaType: String, bytes: Data, ending: String) async throws {
            let view = MediaView(content: try await fetched(kind, bytes, mediaType, named: nil))
            await fakeScreen(view).all.compactMap { $0.tasks["appear"] }.first?()
            let player = try #require(fakeScreen(view).all.first { $0.name == "player" })
            #expect(player.attributes["isPlayable"] == "true")
            #expect(player.attributes["file"]?.hasSuffix("." + ending) == true)
        }

        @Test("show a sound and a video, labelled, and start neither by themselves", arguments: [ContentKind.sound, .video])
        func media(kind: ContentKind) throws {
            let screen = try opened(kind) { $0.content = try file(Data("x".utf8), "video/mp4") }
            #expect(screen.first("id", "richpush.player")?.attributes["label"] == (kind == .video ? "Video" : "Sound"))
        }

        @Test("show where a link leads, and open it only after a question")
        func link() throws {
            let link = try #require(URL(string: "https://example.org/offer"))
            var content = OpenedContent(richID: id(7), kind: .link, message: "", state: .ready)
            content.link = link
            let view = LinkView(link: link)
            EnvironmentValues.fakeOpened = []
            let before = fakeScreen(view)
            #expect(before.texts.contains("https://example.org/offer"))
            before.first("id", "richpush.link")?.action?()
            let asked = try #require(fakeScreen(view).all.first { $0.name == "dialog" })
            #expect(asked.texts.contains("example.org") && EnvironmentValues.fakeOpened.isEmpty)
            asked.all.first { $0.name == "button" && $0.attributes["role"] == nil }?.action?()
            #expect(EnvironmentValues.fakeOpened == [link])
        }

        @Test("show a coupon whose code a screen reader spells")
        func coupon() throws {
            let screen = try opened(.coupon) {
                $0.coupon = Coupon(code: "AB1", headline: "Ten off", terms: "Once", validUntil: Timestamp(seconds: 1_900_000_000))
            }
            #expect(screen.first("id", "richpush.coupon")?.attributes["label"] == "Coupon code: A B 1")
            #expect(screen.texts.contains("Ten off") && screen.texts.contains("Once") && screen.texts.contains("Valid until"))
        }

        @Test("hand any other file on under its own name", arguments: [ContentKind.file, ContentKind(rawValue: "hologram")])
        func file(kind: ContentKind) async throws {
            let bytes = Data("%PDF-1.7 words".utf8)
            let content = try await fetched(kind, bytes, "application/pdf", named: "menu.pdf")
            let screen = fakeScreen(RichPushContentView(content) {})
            #expect(screen.texts.contains("menu.pdf"))
            let shared = try #require(screen.all.first { $0.name == "share" }?.attributes["item"])
            #expect(shared.hasSuffix("/menu.pdf"))
            #expect(FileManager.default.contents(atPath: shared) == bytes)
        }

        @Test("say what is wrong and let the user try again, where that may help")
        func failures() throws {
            var retried = 0
            let content = OpenedContent(richID: id(7), state: .missing(.offline))
            let missing = fakeScreen(RichPushContentView(content) { retried += 1 })
            missing.first("id", "richpush.retry")?.action?()
            #expect(retried == 1 && missing.texts.contains("Not downloaded yet: the server did not answer."))
            let gone = fakeScreen(RichPushContentView(OpenedContent(richID: id(7), state: .failed(.notFound))) {})
            #expect(gone.first("id", "richpush.retry") == nil && gone.texts.contains("There is nothing here for this user."))
            let recalled = fakeScreen(RichPushContentView(OpenedContent(richID: id(7), state: .failed(.recalled))) {})
            #expect(recalled.texts.contains("It is no longer there."))
            let foreign = Problem(type: "about:blank", title: "No", status: 403, detail: nil, code: "forbidden")
            #expect(RichPushError.refused(foreign).sentence == "There is nothing here for this user.")
            #expect(fakeScreen(RichPushContentView(OpenedContent(richID: id(7), state: .loading)) {}).texts == ["Loading…"])
        }

        @Test("list the inbox, unread first in what a screen reader says, and read it again when pulled down")
        func inbox() async throws {
            let client = try await phone.signedIn().push
            phone.backend.store(7, title: "Cat", message: "Look")
            let model = InboxModel(push: client)
            await model.refresh()
            var tapped: [RichID] = []
            let view = RichPushInboxView(model: model) { tapped.append($0.id) }
            let screen = fakeScreen(view)
            #expect(screen.all.contains { $0.attributes["title"] == "Inbox" })
            let entry = try #require(screen.first("id", "richpush.entry.7"))
            #expect(entry.all.contains { $0.attributes["label"] == "Unread, Cat, Look" })
            entry.action?()
            #expect(tapped == [id(7)])
            phone.backend.store(8, message: "Another")
            await screen.all.compactMap { $0.tasks["refresh"] }.first?()
            #expect(model.inbox.entries.map(\.id) == [id(8), id(7)])
            await model.markRead(model.inbox.entries[0])
            #expect(fakeScreen(view).first("id", "richpush.entry.8")?.texts.contains("Mark as read") == false)
        }

        @Test("read the inbox again when the system shows a notification over the app, also when the extension left nothing")
        func inboxBehind() async throws {
            let delegate = try await phone.signedIn()
            let client = delegate.push
            let model = InboxModel(push: client)
            let before = phone.backend.count("GET", "/notifications")
            let loading = Task { await model.load() }
            #expect(await soon { !model.isLoading && phone.backend.count("GET", "/notifications") > before })
            phone.backend.store(7, message: "New")
            let notice = ForegroundNotification(
                identifier: "remote", richID: id(7), subject: nil, content: NotificationContent(body: "You have a new message"))
            _ = await client.engine.willPresent(notice)
            #expect(await soon { model.inbox.entries.map(\.message) == ["New"] })
            loading.cancel()
        }

        @Test("read the inbox from the server when a sign-in goes on by itself")
        func inboxAfterSignIn() async throws {
            let client = try phone.launch().push
            phone.backend.store(7, message: "New")
            let model = InboxModel(push: client)
            let loading = Task { await model.load() }
            #expect(await soon { model.failure == .notSignedIn })
            _ = try await client.engine.signIn(token: "token.of.alice")
            #expect(await soon { model.failure == nil && model.inbox.entries.map(\.message) == ["New"] })
            loading.cancel()
        }

        @Test("ask the server no more for every notification that comes while it is being asked, and show the last of them")
        func burst() async throws {
            let client = try await phone.signedIn().push
            let model = InboxModel(push: client)
            let before = phone.backend.count("GET", "/notifications")
            let loading = Task { await model.load() }
            #expect(await soon { !model.isLoading && phone.backend.count("GET", "/notifications") == before + 1 })
            let gate = Gate()
            phone.backend.state.with { $0.gates["/notifications$"] = gate }
            let changes = model.$inbox.fakeChanges
            for number in 1...100 {
                phone.backend.store(Int32(number), message: "Number \(number)")
                let notice = ForegroundNotification(
                    identifier: "remote-\(number)", richID: id(Int32(number)), subject: nil,
                    content: NotificationContent(body: "New"))
                _ = await client.engine.willPresent(notice)
                if number == 1 { #expect(await soon { await gate.isWaitedAt }) }
            }
            // The model reads the device for each arrival and each offer; one that arrives after the gate has opened would be a
            // reason to ask again.
            #expect(await soon { model.$inbox.fakeChanges == changes + 200 })
            #expect(phone.backend.count("GET", "/notifications") == before + 2 && model.isLoading)
            await gate.open()
            #expect(await soon { phone.backend.count("GET", "/notifications") >= before + 3 && !model.isLoading })
            #expect(await soon { model.inbox.entries.first?.message == "Number 100" })
            // Until it asks no more: one question after the other would take as many turns as it likes.
            var asked = 0
            for _ in 0..<1_000 where asked != phone.backend.count("GET", "/notifications") {
                asked = phone.backend.count("GET", "/notifications")
                for _ in 0..<20 { await settle() }
            }
            #expect(asked == before + 3)
            loading.cancel()
            await loading.value
        }

        @Test("show an empty inbox and a failed one as what they are")
        func emptyInbox() async throws {
            let client = try await phone.signedIn().push
            let model = InboxModel(push: client)
            #expect(fakeScreen(RichPushInboxView(model: model) { _ in }).texts.contains("Nothing here yet"))
            phone.backend.setOffline(true)
            await model.refresh()
            #expect(fakeScreen(RichPushInboxView(model: model) { _ in }).first("id", "richpush.failure") != nil)
        }

        @Test("ask OK / More, one question after the other, and open what the user wants")
        func offers() async throws {
            let client = try await phone.signedIn().push
            phone.backend.store(7)
            let shown = Locked<[OpenedContent]>([])
            let view = Text(verbatim: "Root").richPush(client) { content in shown.with { $0.append(content) } }
            await fakeScreen(view).all.compactMap { $0.tasks["appear"] }.first?()
            await client.router.offer(ContentOffer(richID: id(7), title: "Cat", message: "Look"))
            await client.router.offer(ContentOffer(richID: id(8), title: nil, message: "Second"))
            let first = try #require(fakeScreen(view).all.first { $0.name == "alert" })
            #expect(first.text == "Cat" && first.texts.contains("Look") && first.texts.contains("OK"))
            first.all.first { $0.name == "button" && $0.texts == ["More"] }?.action?()
            #expect(await soon { shown.with { $0.last?.state } == .ready })
            let second = try #require(fakeScreen(view).all.first { $0.name == "alert" })
            #expect(second.text == "New notification" && second.texts.contains("Second"))
            second.all.first { $0.attributes["role"] == "cancel" }?.action?()
            #expect(!fakeScreen(view).all.contains { $0.name == "alert" })
        }

        @Test("do not ask the next user what the one before was asked")
        func offersOfAnother() async throws {
            let client = try await phone.signedIn().push
            let view = Text(verbatim: "Root").richPush(client) { _ in }
            await fakeScreen(view).all.compactMap { $0.tasks["appear"] }.first?()
            await client.router.offer(ContentOffer(richID: id(7), title: "Cat", message: "Look"))
            #expect(fakeScreen(view).all.contains { $0.name == "alert" })
            try await client.signOut()
            #expect(!fakeScreen(view).all.contains { $0.name == "alert" })
        }

        @Test("notify the app when another user may come, so that nothing of the previous one stays on its screen")
        func forgetting() async throws {
            let client = try await phone.signedIn().push
            let path = Locked<[RichID]>([])
            let view = Text(verbatim: "Root").richPush(client) { content in
                path.with { $0 = [content.richID] }
            } forget: {
                path.with { $0 = [] }
            }
            await fakeScreen(view).all.compactMap { $0.tasks["appear"] }.first?()
            phone.backend.store(7)
            await client.engine.show(id(7))
            #expect(path.with { $0 } == [id(7)])
            try await client.signOut()
            #expect(path.with { $0 }.isEmpty)
            await client.router.show(OpenedContent(richID: id(7), state: .ready))
            try await client.signIn(user: "bob", password: "hidden")
            #expect(path.with { $0 }.isEmpty)
        }

        @Test("open a content by its number, and again after a failure")
        func screen() async throws {
            let client = try await phone.signedIn().push
            phone.backend.setOffline(true)
            let view = RichPushContentScreen(id(7), push: client)
            await fakeScreen(view).all.compactMap { $0.tasks["task"] }.first?()
            #expect(fakeScreen(view).first("id", "richpush.retry") != nil)
            phone.backend.setOffline(false)
            phone.backend.store(7)
            fakeScreen(view).first("id", "richpush.retry")?.action?()
            #expect(await soon { fakeScreen(view).first("id", "richpush.picture") != nil })
        }

        @Test("have every word in every language", arguments: ["en", "sv", "de"])
        func words(language: String) throws {
            let ui = try #require(Self.strings(of: "RichPushUI", language))
            #expect(Set(ui.keys) == Set(LocalizedText.allCases.map(\.rawValue)))
            #expect(ui.values.allSatisfy { !$0.isEmpty })
            let device = try #require(Self.strings(of: "RichPushPlatform", language))
            #expect(Set(device.keys) == ["more", "neutral", "reply", "replyFailed"])
        }

        @Test("have a sentence for every error")
        func sentences() {
            for error in [
                RichPushError.offline, .notFound, .recalled, .badTag, .tooLarge, .storage(.failed), .wrongPassword, .badAnswer,
            ] {
                #expect(error.sentence.contains(" "))
            }
        }

        private static func strings(of module: String, _ language: String) -> [String: String]? {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Shipped/\(module)/Resources/\(language).lproj/Localizable.strings")
            return (try? Data(contentsOf: file))
                .flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) as? [String: String] }
        }
    }
}
