import Foundation
import ImageIO
import RichPushModel
import RichPushPlatform
import SwiftUI
import Testing
import UserNotifications

@testable import RichPushApp
@testable import RichPushContentExtension
@testable import RichPushDevice
@testable import RichPushUI

extension AppleFace {
    @Suite("Pictures")
    @MainActor
    struct Pictures {
        let phone: TestPhone

        init() throws { phone = try TestPhone() }

        private func file(_ bytes: Data) throws -> URL {
            let file = phone.folder.appendingPathComponent("\(UUID().uuidString).png")
            try bytes.write(to: file)
            return file
        }

        /// The view after its picture has come, or has not.
        private func shown(_ bytes: Data) async throws -> FakeNode {
            var content = OpenedContent(richID: id(7), kind: .image, message: "", state: .ready)
            content.content = CachedContent(file: try file(bytes), mediaType: "image/png", byteCount: Int64(bytes.count))
            content.fileName = "large.png"
            let view = PictureView(content: content)
            await fakeScreen(view).all.compactMap { $0.tasks["task"] }.first?()
            return fakeScreen(view)
        }

        private func controller(_ bytes: Data) async throws -> UIImageView {
            let controller = RichPushContentViewController()
            controller.loadViewIfNeeded()
            let content = UNMutableNotificationContent()
            content.attachments = [try UNNotificationAttachment(identifier: "a", url: try file(bytes))]
            controller.didReceive(UNNotification(fake: UNNotificationRequest(identifier: "r", content: content, trigger: nil)))
            await controller.decoding?.value
            let stack = try #require(controller.view.subviews.first as? UIStackView)
            return try #require(stack.arrangedSubviews.first as? UIImageView)
        }

        @Test("that say that they are enormous are not decoded, however small the file is")
        func enormous() async throws {
            let bomb = TestPhone.png(60_001, 60_000)
            #expect(bomb.count < 50)
            let screen = try await shown(bomb)
            #expect(screen.first("id", "richpush.picture") == nil && screen.texts.contains("large.png"))
            #expect(try await controller(bomb).isHidden)
            for size in [TestPhone.png(.max, .max), TestPhone.png(0, 9)] { #expect(try await controller(size).isHidden) }
            #expect(FakeDecodings.shared.ofWidth(60_001).isEmpty)
            // Beyond what an extension decodes, and not beyond what the app does.
            #expect(try await controller(TestPhone.png(7_001, 5_000)).isHidden)
            #expect(try await shown(TestPhone.png(7_001, 5_000)).all.contains { $0.attributes["image"] == "picture" })
        }

        @Test("are decoded away from the main thread")
        func thread() async throws {
            _ = try await shown(TestPhone.png(301, 200))
            _ = try await controller(TestPhone.png(301, 200))
            let decodings = FakeDecodings.shared.ofWidth(301)
            #expect(decodings.map(\.isOnMainThread) == [false, false] && decodings.map(\.side) == [301, 301])
        }

        @Test("are decoded as small as they are shown")
        func small() async throws {
            let client = try await phone.signedIn().push
            let screen = try await shown(TestPhone.png(6_001, 4_000))
            #expect(screen.all.contains { $0.attributes["image"] == "picture" })
            let entry = phone.backend.store(7, bytes: TestPhone.png(6_001, 4_000))
            #expect(await client.open(id(7)).state == .ready)
            let thumbnail = await InboxModel(push: client).thumbnail(of: entry, side: 168)
            #expect(thumbnail?.size == CGSize(width: 168, height: 111))
            _ = try await controller(TestPhone.png(6_001, 4_000 - 1))
            let sides = FakeDecodings.shared.ofWidth(6_001).map(\.side)
            // 8 and 2 million pixels with sides of 3 to 2.
            #expect(sides == [3_464, 168, 1_732])
        }

        @Test("are not decoded for a side that is no number, and for one without end as large as a screen shows")
        func strangeSides() async throws {
            let client = try await phone.signedIn().push
            let entry = phone.backend.store(7, bytes: TestPhone.png(6_003, 4_000))
            #expect(await client.open(id(7)).state == .ready)
            let model = InboxModel(push: client)
            for side in [CGFloat.nan, 0, -1, -CGFloat.infinity] { #expect(await model.thumbnail(of: entry, side: side) == nil) }
            for side in [CGFloat.infinity, .greatestFiniteMagnitude] {
                #expect(await model.thumbnail(of: entry, side: side)?.size.width == 3_464)
            }
            #expect(FakeDecodings.shared.ofWidth(6_003).count == 2)
        }

        @Test("make room for themselves before they are decoded")
        func room() async throws {
            let about = PictureFile(try file(TestPhone.png(200, 301)))
            #expect(try about.heightToWidth(within: .notification) == 1.505)
            #expect(throws: PictureFile.Failure.tooManyPixels) {
                try about.heightToWidth(within: .init(pixels: 60_199, decodedPixels: 1))
            }
            #expect(throws: PictureFile.Failure.unreadable) {
                try PictureFile(phone.folder.appendingPathComponent("none")).decoded(within: .screen)
            }
            #expect(FakeDecodings.shared.ofWidth(200).isEmpty)
        }
    }
}
