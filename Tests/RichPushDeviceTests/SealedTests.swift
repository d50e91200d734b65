import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice
@testable import RichPushSealing

@Suite("A sealed notification")
struct SealedTests {
    let device: TestDevice
    let picture = Samples.png(3, count: 200_000)
    private let original = NotificationContent(body: "You have a new message", category: "richPush")

    init() throws { device = try TestDevice() }

    private var words: SealedText { SealedText(kind: .image, title: "Åsa", message: "Only for you") }

    private func storePicture(_ number: Int32 = 7, change: (inout Data) -> Void = { _ in }) throws {
        try device.backend.storeSealed(
            number, words, content: SealingPart(bytes: picture, format: .png),
            thumb: SealingPart(bytes: Samples.png(4), format: .png), change: change)
    }

    private func enrich(_ number: Int32 = 7) async throws -> NotificationContent {
        let envelope = PushEnvelope(id: id(number), kind: .sealed, hasAlert: true, wakesApp: false)
        let request = EnrichmentRequest(identifier: "r", envelope: envelope, original: original)
        return await (try device.launchExtension()).enrich(request, budget: .seconds(30))
    }

    @Test("is not put where widgets read, though it is open on the device")
    func notForWidgets() async throws {
        let app = try await device.signedIn()
        try storePicture()
        _ = try await enrich()
        device.activities.name([id(7)])
        await app.activitiesChanged()
        let shared = FileContentCache.sharedPicture(of: id(7), in: device.folder.appendingPathComponent("content"))
        #expect(!FileManager.default.fileExists(atPath: shared.path))
    }

    @Test("shows its text and its small picture, fetched and opened by the extension")
    func enriched() async throws {
        let app = try await device.signedIn()
        try storePicture()
        let shown = try await enrich()
        #expect(shown.title == "Åsa")
        #expect(shown.body == "Only for you")
        #expect(shown.badge == 1)
        #expect(try Data(contentsOf: #require(shown.attachment).file) == Samples.png(4))
        #expect(try await app.inbox().entries.map(\.message) == ["Only for you"])
        #expect(await app.downloadedContent(of: id(7)).flatMap { try? Data(contentsOf: $0.file) } == Samples.png(4))
    }

    @Test("opens to the bytes that were sealed, and again without a network")
    func opened() async throws {
        let app = try await device.signedIn()
        try storePicture()
        for offline in [false, true] {
            device.backend.setOffline(offline)
            let opened = await app.open(id(7))
            #expect(opened.state == .ready)
            #expect(opened.isSealed)
            #expect(opened.kind == .image)
            #expect(opened.message == "Only for you")
            #expect(try Data(contentsOf: #require(opened.content).file) == picture)
        }
        #expect(await app.isDownloaded(id(7)))
    }

    @Test("comes by a silent push too, with its picture")
    func silent() async throws {
        let app = try await device.signedIn()
        try storePicture()
        #expect(await app.handleBackgroundPush(Samples.silent(7, kind: .sealed), budget: .seconds(30)) == .newData)
        let notice = try #require(await device.notifications.presented.first)
        #expect(notice.content.body == "Only for you")
        #expect(await device.notifications.attached == [picture])
    }

    @Test("carries links, coupons and plain text without a content of their own")
    func small() async throws {
        let app = try await device.signedIn()
        var link = SealedText(kind: .link, message: "Look")
        link.link = "https://example.org/x"
        var coupon = SealedText(kind: .coupon, message: "Yours")
        coupon.coupon = Coupon(code: "C-1", headline: "Half price")
        var wrong = link
        wrong.link = "javascript:alert(1)"
        for (number, words) in zip(Int32(1)..., [link, coupon, SealedText(message: "Words"), wrong]) {
            try device.backend.storeSealed(number, words)
        }
        #expect(await app.open(id(1)).link?.absoluteString == "https://example.org/x")
        #expect(await app.open(id(2)).coupon?.code == "C-1")
        let plain = await app.open(id(3))
        #expect(plain.state == .ready)
        #expect(plain.message == "Words")
        #expect(plain.isSealed)
        #expect(await app.open(id(4)).state == .failed(.badAnswer))
    }

    @Test("that no push brought is opened with the inbox")
    func inbox() async throws {
        let app = try await device.signedIn()
        try storePicture()
        #expect(try await app.refresh().entries.map(\.message) == ["Only for you"])
        #expect(try await app.refresh().entries.map(\.kind) == [.image])
    }

    @Test("for another key shows the neutral text everywhere, and nothing that stands beside the seal")
    func wrongDevice() async throws {
        let app = try await device.signedIn()
        try device.backend.storeSealed(7, words, key: SealingPrivateKey().publicKey)
        #expect(try await enrich() == original)
        #expect(await app.open(id(7)).state == .failed(.notSealedForThisDevice))
        let entry = try #require(try await app.refresh().entries.first)
        #expect(entry.message == "You have a new message")
        #expect(entry.title == nil)
        #expect(entry.altText == nil)
        #expect(await app.downloadedContent(of: id(7)) == nil)
        let silent = Samples.silent(7, kind: .sealed, message: "Forged in the push")
        #expect(await app.handleBackgroundPush(silent, budget: .seconds(30)) == .failed)
        #expect(await device.notifications.presented.map(\.content.body) == ["You have a new message"])
        #expect(device.backend.receipts.contains { $0.kind == .failed && $0.action == "not-sealed-for-this-device" })
    }

    @Test("that was changed on the server shows the neutral text", arguments: ["words", "wraps", "ephemeral", "mark"])
    func tampered(part: String) async throws {
        let app = try await device.signedIn()
        try storePicture { envelope in
            guard part != "mark" else { return envelope[9] ^= 1 }
            let length = envelope[10..<14].reduce(0) { $0 << 8 | Int($1) }
            guard var head = try? JSONDecoder().decode(EnvelopeHead.self, from: envelope[14..<14 + length]) else { return }
            switch part {
            case "words": head.words[20] ^= 1
            case "ephemeral": head.ephemeral[5] ^= 1
            default: head.wraps = head.wraps.mapValues { Data($0.reversed()) }
            }
            guard let json = try? JSONEncoder().encode(head) else { return }
            envelope = EnvelopeHead.mark + EnvelopeHead.length(json.count) + json + envelope.dropFirst(14 + length)
        }
        #expect(try await enrich() == original)
        let expected = part == "ephemeral" ? RichPushError.notSealedForThisDevice : part == "mark" ? .badMediaType : .sealBroken
        let state = await app.open(id(7)).state
        #expect(state == .failed(expected) || state == .failed(.sealBroken))
    }

    @Test("whose small picture was changed shows its text all the same")
    func tamperedThumb() async throws {
        _ = try await device.signedIn()
        try storePicture { $0[$0.count - 100] ^= 1 }
        let shown = try await enrich()
        #expect(shown.body == "Only for you")
        #expect(shown.attachment == nil)
    }

    @Test("put under another number shows the neutral text")
    func moved() async throws {
        let app = try await device.signedIn()
        try storePicture(7)
        device.backend.state.with { state in
            guard var moved = state.stored[id(7)] else { return }
            moved.entry.id = id(8)
            state.stored[id(8)] = moved
        }
        #expect(try await enrich(8) == original)
        #expect(await app.open(id(8)).state == .failed(.sealBroken))
        #expect(await app.open(id(7)).state == .ready)
    }

    @Test("does not open when the content was exchanged for another that the server describes truly")
    func exchanged() async throws {
        let app = try await device.signedIn()
        try storePicture(7)
        try storePicture(8)
        device.backend.state.with { state in
            guard let other = state.stored[id(8)] else { return }
            state.stored[id(7)]?.bytes = other.bytes
            state.stored[id(7)]?.entry.content = other.entry.content
        }
        #expect(await app.open(id(7)).state == .failed(.sealBroken))
        #expect(await app.open(id(8)).state == .ready)
    }

    @Test("with more outside than it says is inside is not fetched: not by the extension, not in the background, not by a tap")
    func oversized() async throws {
        let app = try await device.signedIn()
        let small = SealingPart(bytes: Samples.png(3, count: 1_000), format: .png)
        try device.backend.storeSealed(7, words, content: small)
        device.backend.state.with { state in
            guard let sealed = state.stored[id(7)]?.bytes else { return }
            let padded = sealed + Data(count: 3_000_000)
            state.stored[id(7)]?.bytes = padded
            state.stored[id(7)]?.entry.content = Samples.descriptor(padded, MediaFormat.sealed.rawValue)
        }
        #expect(try await enrich().attachment == nil)
        #expect(await app.handleBackgroundPush(Samples.silent(7, kind: .sealed), budget: .seconds(30)) == .failed)
        #expect(await app.open(id(7)).state == .failed(.sealBroken))
        await #expect(throws: RichPushError.sealBroken) { try await app.downloadLink(for: id(7)) }
        let fetched = device.backend.requests.filter { $0.url.path.hasSuffix("/notifications/7") && $0.url.query == nil }
        #expect(fetched.isEmpty)
    }

    @Test("is refused when the sender declared a type that the bytes are not")
    func lyingSender() async throws {
        let app = try await device.signedIn()
        try device.backend.storeSealed(7, words, content: SealingPart(bytes: Data("<html>".utf8), format: .png))
        #expect(await app.open(id(7)).state == .failed(.badMediaType))
    }

    @Test("of a key that was lost stays closed, and the server gets the new key")
    func lostKey() async throws {
        let app = try await device.signedIn()
        let before = try #require(device.backend.sealingKey)
        try storePicture()
        device.secrets.with { $0[.sealingKey] = nil }
        #expect(try await enrich() == original)
        _ = try await app.refresh()
        for _ in 0..<200 where device.backend.sealingKey == before { try await Task.sleep(for: .milliseconds(10)) }
        #expect(device.backend.sealingKey != before)
        #expect(await app.open(id(7)).state == .failed(.notSealedForThisDevice))
        try storePicture(8)
        #expect(await app.open(id(8)).state == .ready)
    }

    @Test("leaves no key, no text and no content after the sign-out, and the next user has a key of their own")
    func signOut() async throws {
        let app = try await device.signedIn()
        let before = try #require(device.backend.sealingKey)
        try storePicture()
        #expect(await app.open(id(7)).state == .ready)
        #expect(await app.sealingFingerprint == (try SealingPublicKey(before).fingerprint))
        try await app.signOut()
        #expect(device.secrets.with { $0[.sealingKey] } == nil)
        for file in device.files {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(data.range(of: Data("Only for you".utf8)) == nil && data.range(of: picture.suffix(100)) == nil, "\(file)")
        }
        try await app.signIn(user: "bob", password: "hidden")
        #expect(device.backend.sealingKey != before)
        #expect(device.backend.sealingKey != nil)
    }

    @Test("in an app that opens none registers no key and shows the neutral text")
    func turnedOff() async throws {
        var configuration = try TestDevice.configuration()
        configuration.opensSealedContent = false
        let app = try await device.launch(configuration)
        await app.didRegister(token: "abcdef")
        try await app.signIn(user: "alice", password: "secret")
        #expect(device.backend.sealingKey == nil)
        #expect(device.secrets.with { $0[.sealingKey] } == nil)
        #expect(await app.sealingFingerprint == nil)
    }

    @Test("that the system downloaded in the background is opened when it is taken in")
    func backgroundDownload() async throws {
        let app = try await device.signedIn()
        try storePicture()
        _ = try await app.refresh()
        let stored = try #require(device.backend.state.with { $0.stored[id(7)] })
        let file = device.folder.appendingPathComponent("downloaded")
        try stored.bytes.write(to: file)
        try await app.takeDownload(file, of: id(7))
        device.backend.setOffline(true)
        #expect(try Data(contentsOf: #require(await app.open(id(7)).content).file) == picture)
    }
}
