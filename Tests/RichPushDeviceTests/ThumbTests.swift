import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("The small variant")
struct ThumbTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    /// A document with a picture of its first page.
    private func storeDocument() {
        var entry = Samples.entry(7, kind: .file, bytes: Data("%PDF-1.7 words".utf8), mediaType: "application/pdf")
        entry.thumb = Samples.descriptor(Samples.png(8))
        let stored = ScriptedBackend.Stored(entry: entry, bytes: Data("%PDF-1.7 words".utf8), thumb: Samples.png(8))
        device.backend.state.with { $0.stored[id(7)] = stored }
    }

    @Test("is the picture of a background push whose content the system cannot show, and the content is there for the tap")
    func attached() async throws {
        let engine = try await device.signedIn()
        storeDocument()
        #expect(await engine.handleBackgroundPush(Samples.silent(7, kind: .file), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.attached == [Samples.png(8)])
        device.backend.setOffline(true)
        #expect(await engine.open(id(7)).state == .ready)
    }

    @Test("is all that is fetched in the background of a large content while the user saves power", arguments: [true, false])
    func savingPower(isSaving: Bool) async throws {
        let engine = try await device.signedIn()
        await device.environment.set(savesPower: isSaving)
        let large = Samples.png(3, count: 600_000)
        device.backend.store(7, bytes: large, thumb: Samples.png(4))
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.attached == [isSaving ? Samples.png(4) : large])
        #expect(await engine.open(id(7)).state == .ready)
    }

    @Test("that cannot be fetched leaves the notification with its text")
    func missing() async throws {
        let engine = try await device.signedIn()
        storeDocument()
        device.backend.state.with { $0.stored[id(7)]?.thumb = nil }
        #expect(await engine.handleBackgroundPush(Samples.silent(7, kind: .file), budget: .seconds(30)) == .newData)
        #expect(await device.notifications.presented.map(\.content.body) == ["Words"])
        #expect(await device.notifications.attached.isEmpty)
    }

    @Test("is what a list shows of a notification that only the service extension has fetched")
    func listed() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(7, count: 9_000), thumb: Samples.png(8))
        let request = EnrichmentRequest(
            identifier: "r", envelope: Samples.visible(7), original: NotificationContent(body: "You have a new message"))
        _ = await (try device.launchExtension()).enrich(request, budget: .seconds(30))
        let listed = try #require(await engine.downloadedContent(of: id(7)))
        #expect(try Data(contentsOf: listed.file) == Samples.png(8))
        // Full size on opening.
        let opened = await engine.open(id(7))
        #expect(try Data(contentsOf: try #require(opened.content?.file)) == Samples.png(7, count: 9_000))
    }
}
