import Foundation
import RichPushModel
import Testing

@testable import RichPushSealing

@Suite("A seal")
struct SealTests {
    /// A device with its key, and a folder for its files.
    final class Device {
        let key = SealingPrivateKey()
        let installation: InstallationID
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seal-\(UUID().uuidString)")

        init(_ name: String = "phone-1") throws {
            installation = try #require(InstallationID(name))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        var recipient: SealingRecipient { SealingRecipient(installation: installation, key: key.publicKey) }

        func file(_ data: Data) throws -> URL {
            let file = folder.appendingPathComponent(UUID().uuidString)
            try data.write(to: file)
            return file
        }

        func open(_ envelope: Data, for number: Int32 = 7) throws -> OpenedSeal {
            try SealedEnvelope(file(envelope)).open(for: id(number), installation: installation, with: key)
        }

        func content(_ seal: OpenedSeal, of sealed: Data) throws -> Data {
            let target = folder.appendingPathComponent("plain")
            try seal.writeContent(from: file(sealed), to: target)
            return try Data(contentsOf: target)
        }
    }

    static func id(_ number: Int32) -> RichID {
        guard let id = RichID(number: number) else { preconditionFailure("a test's number") }
        return id
    }

    static func noise(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8.random(in: .min ... .max) }) }

    private func words() -> SealedText { SealedText(kind: .image, title: "From Åsa", message: "Only for you") }

    @Test("opens at each of its recipients, with text, thumb and content as they were", arguments: [1, 65_535, 65_536, 200_001])
    func roundTrip(_ count: Int) throws {
        let (one, two) = (try Device("a"), try Device("b"))
        let (picture, small) = (Self.noise(count), Self.noise(300))
        let sealer = try Sealer(
            text: words(), content: SealingPart(bytes: picture, format: .png, fileName: "summer.png"),
            thumb: SealingPart(bytes: small, format: .jpeg))
        let envelope = try sealer.envelope(for: Self.id(7), to: [one.recipient, two.recipient])
        let sealed = try #require(sealer.content)
        for device in [one, two] {
            let seal = try device.open(envelope)
            #expect(seal.text.message == "Only for you")
            #expect(seal.text.title == "From Åsa")
            #expect(seal.text.kind == .image)
            #expect(seal.text.content?.byteCount == Int64(count))
            #expect(seal.text.content?.fileName == "summer.png")
            #expect(seal.storedByteCount == Int64(sealed.count))
            #expect(try device.content(seal, of: sealed) == picture)
            let thumb = device.folder.appendingPathComponent("thumb")
            try seal.writeThumb(to: thumb)
            #expect(try Data(contentsOf: thumb) == small)
        }
        #expect(sealed.prefix(9) == Data(MediaFormat.sealMark))
        #expect(envelope.prefix(9) == Data(MediaFormat.sealMark))
    }

    @Test("reveals neither text nor content nor recipients to anyone else")
    func secrecy() throws {
        let device = try Device("installation-of-alice")
        let picture = Data("a picture that must not be read".utf8)
        let sealer = try Sealer(text: words(), content: SealingPart(bytes: picture, format: .plainText, fileName: "secret.txt"))
        let all = try sealer.envelope(for: Self.id(7), to: [device.recipient]) + #require(sealer.content)
        for text in ["Only for you", "From", "a picture", "secret.txt", "text/plain", "img", device.installation.text] {
            #expect(all.range(of: Data(text.utf8)) == nil)
            #expect(all.range(of: Data(Data(text.utf8).base64EncodedData())) == nil)
        }
        #expect(all.range(of: Data(device.key.publicKey.text.utf8)) == nil)
    }

    @Test("does not open with another device's key, under another number, or for another installation")
    func bound() throws {
        let (device, other) = (try Device(), try Device("other"))
        let envelope = try Sealer(text: words()).envelope(for: Self.id(7), to: [device.recipient])
        #expect(throws: SealingError.notForThisKey) { try other.open(envelope) }
        #expect(throws: SealingError.broken) { try device.open(envelope, for: 8) }
        let file = try device.file(envelope)
        #expect(throws: SealingError.broken) {
            try SealedEnvelope(file).open(for: Self.id(7), installation: other.installation, with: device.key)
        }
        #expect(try device.open(envelope).text.message == "Only for you")
    }

    @Test("with any byte of it changed does not open, or says the very same: base64 has bits that mean nothing")
    func tampered() throws {
        let device = try Device()
        let small = Self.noise(40)
        let sealer = try Sealer(text: words(), thumb: SealingPart(bytes: small, format: .png))
        let envelope = try sealer.envelope(for: Self.id(7), to: [device.recipient])
        let target = device.folder.appendingPathComponent("thumb")
        var opened = 0
        for index in envelope.indices {
            var changed = envelope
            changed[index] ^= 1
            guard let seal = try? device.open(changed), (try? seal.writeThumb(to: target)) != nil else { continue }
            opened += 1
            #expect(try seal.text.message == "Only for you" && Data(contentsOf: target) == small, "byte \(index)")
        }
        #expect(opened < 10)
    }

    @Test("does not open when pieces of the content are cut off, swapped, doubled, or of another message")
    func pieces() throws {
        let device = try Device()
        let piece = (64 << 10) + 16
        let sealers = try (0..<2).map { _ in
            try Sealer(text: words(), content: SealingPart(bytes: Self.noise(3 * (64 << 10)), format: .png))
        }
        let seal = try device.open(try sealers[0].envelope(for: Self.id(7), to: [device.recipient]))
        let sealed = try #require(sealers[0].content)
        let head = sealed.prefix(10)
        let parts = (0..<3).map { Data(sealed.dropFirst(10 + $0 * piece).prefix(piece)) }
        let joined = { (order: [Int]) in order.reduce(Data(head)) { $0 + parts[$1] } }
        #expect(try device.content(seal, of: joined([0, 1, 2])).count == 3 * (64 << 10))
        var wrong = [[0, 1], [1, 0, 2], [0, 0, 1, 2], [0, 1, 2, 2], [2], []].map(joined)
        wrong += [Data(sealed.dropLast()), sealed + Data([0]), Data()]
        wrong.append(try #require(sealers[1].content))
        wrong.append(try sealers[0].envelope(for: Self.id(7), to: [device.recipient]))
        for bytes in wrong { #expect(throws: SealingError.self) { try device.content(seal, of: bytes) } }
    }

    @Test("is for a hundred installations and refuses none, a hundred and one, and one named twice")
    func recipients() throws {
        let devices = try (0..<101).map { try Device("phone-\($0)") }
        let sealer = try Sealer(text: words())
        let envelope = try sealer.envelope(for: Self.id(7), to: devices.prefix(100).map(\.recipient))
        #expect(try devices[99].open(envelope).text.message == "Only for you")
        #expect(throws: SealingError.notForThisKey) { try devices[100].open(envelope) }
        for wrong in [devices.map(\.recipient), [], [devices[0].recipient, devices[0].recipient]] {
            #expect(throws: SealingError.badRecipients) { try sealer.envelope(for: Self.id(7), to: wrong) }
        }
    }

    @Test("refuses what no device takes, and keys that are none")
    func refusals() throws {
        #expect(throws: SealingError.badSize) { try Sealer(text: words(), content: SealingPart(bytes: Data(), format: .png)) }
        let large = SealingPart(bytes: Data(count: Sealer.thumbLimit + 1), format: .png)
        #expect(throws: SealingError.badSize) { try Sealer(text: words(), thumb: large) }
        for text in ["", "x", Data(count: 31).base64EncodedString(), Data(count: 33).base64EncodedString()] {
            #expect(throws: SealingError.badKey) { try SealingPublicKey(text) }
        }
        // A point of small order: a client that registers it as its key could open what all senders seal for it.
        let weak = SealingRecipient(
            installation: try Device().installation, key: try SealingPublicKey(Data(count: 32).base64EncodedString()))
        #expect(throws: SealingError.badKey) { try Sealer(text: words()).envelope(for: Self.id(7), to: [weak]) }
    }

    @Test("noise is no envelope, whatever length it claims")
    func noise() throws {
        var generator = SystemRandomNumberGenerator()
        let device = try Device()
        for _ in 0..<300 {
            let marked = Bool.random(using: &generator) ? Data("CLRNSEAL\u{1}E".utf8) : Data()
            let bytes = marked + Self.noise(Int.random(in: 0..<200, using: &generator))
            #expect(throws: SealingError.self, "\(bytes.base64EncodedString())") { try device.open(bytes) }
        }
    }

    @Test("a key survives its text, and its fingerprint is eight groups of four digits")
    func keys() throws {
        let key = SealingPrivateKey()
        #expect(try SealingPrivateKey(secretText: key.secretText).publicKey == key.publicKey)
        #expect(try SealingPublicKey(key.publicKey.text) == key.publicKey)
        let groups = key.publicKey.fingerprint.split(separator: " ")
        #expect(groups.count == 8)
        #expect(groups.allSatisfy { $0.count == 4 && $0.allSatisfy(\.isHexDigit) })
        #expect(SealingPrivateKey().publicKey.fingerprint != key.publicKey.fingerprint)
    }
}

private func id(_ number: Int32) -> RichID { SealTests.id(number) }
