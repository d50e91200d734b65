import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("What a notification waits for")
struct EnrichmentCostTests {
    let device: TestDevice
    static let film = Data([0, 0, 0, 24]) + Data("ftypisom".utf8) + Data(count: 300_000)

    init() throws { device = try TestDevice() }

    private func enriched() async throws -> NotificationContent {
        let original = NotificationContent(body: "You have a new message", category: "richPush")
        let request = EnrichmentRequest(identifier: "r", envelope: Samples.visible(7), original: original)
        return await (try device.launchExtension()).enrich(request, budget: .seconds(25))
    }

    private var downloads: [TransportRequest] {
        device.backend.requests.filter { $0.method == "GET" && $0.url.path.hasSuffix("/notifications/7") }
    }

    @Test(
        "goes over any network when it is small, and when it is large only where that costs the user nothing",
        arguments: [
            (400_000, AllowedNetwork.any), (600_000, .unconstrained), (3_000_000, .inexpensive), (10_000_000, .inexpensive),
        ])
    func networks(size: Int, network: AllowedNetwork) async throws {
        _ = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3, count: size))
        #expect(try await enriched().attachment != nil)
        #expect(downloads.map(\.network) == [network])
    }

    @Test("is no large picture while the user saves power, and its small variant in any case", arguments: [true, false])
    func savingPower(hasThumb: Bool) async throws {
        _ = try await device.signedIn()
        await device.environment.set(savesPower: true)
        device.backend.store(7, bytes: Samples.png(3, count: 600_000), thumb: hasThumb ? Samples.png(4) : nil)
        let content = try await enriched()
        #expect(content.body == "Words")
        #expect((content.attachment != nil) == hasThumb)
        #expect(downloads.count == (hasThumb ? 1 : 0))
    }

    @Test("is no film, but its small variant", arguments: [true, false])
    func film(hasThumb: Bool) async throws {
        _ = try await device.signedIn()
        var entry = Samples.entry(7, kind: .video, bytes: Self.film, mediaType: "video/mp4")
        if hasThumb { entry.thumb = Samples.descriptor(Samples.png(4)) }
        let stored = ScriptedBackend.Stored(entry: entry, bytes: Self.film, thumb: Samples.png(4))
        device.backend.state.with { $0.stored[id(7)] = stored }
        let content = try await enriched()
        #expect(content.body == "Words")
        #expect(content.attachment?.mediaType == (hasThumb ? "image/png" : nil))
        #expect(downloads.map(\.url.query) == (hasThumb ? ["variant=thumb"] : []))
    }

    @Test("is words alone on a network that the picture is spared, which is no failure")
    func spared() async throws {
        _ = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3, count: 600_000))
        device.backend.script { $0.network == .any ? nil : .failure(.unreachable) }
        let content = try await enriched()
        #expect(content.body == "Words")
        #expect(content.attachment == nil)
        #expect(device.receipts(.delivered) == [id(7)])
        #expect(device.receipts(.failed).isEmpty)
    }

    @Test("is a large picture for ten seconds and no longer")
    func timeout() async throws {
        _ = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(3, count: 600_000))
        let gate = Gate()
        device.backend.state.with { $0.gates["notifications/7$"] = gate }
        async let content = enriched()
        #expect(await eventually { downloads.count == 1 && device.clock.sleeperCount > 1 })
        device.clock.advance(by: .seconds(10))
        let shown = try await content
        #expect(shown.body == "Words")
        #expect(shown.attachment == nil)
        await gate.open()
    }
}
