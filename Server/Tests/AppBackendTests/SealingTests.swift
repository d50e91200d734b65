import AppBackend
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("What a server does for sealed sends")
struct SealingTests {
    private static func key() -> String { Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString() }

    /// Bytes that nothing here can open.
    private static func sealed() -> [UInt8] { MediaFormat.sealMark + (0..<60).map { _ in UInt8.random(in: .min ... .max) } }

    private func install(
        _ test: TestBackend, _ principal: Principal, _ id: String, handle: Int, key: String?
    ) async throws {
        let update = InstallationUpdate(handle: Sample.handle(handle), sealingKey: key)
        _ = try await test.backend.putInstallation(id: try #require(InstallationID(id)), update: update, for: principal)
    }

    private func request(_ test: TestBackend, _ principal: Principal, number: RichID) async throws -> SendRequest {
        var request = SendRequest(message: "")
        request.kind = .sealed
        request.id = number
        request.contentID = try await test.store(Self.sealed(), principal)
        return request
    }

    private func number(_ test: TestBackend, _ principal: Principal) async throws -> Int32 {
        try await test.backend.sealingDirectory(users: nil, for: principal).number.number
    }

    @Test("the directory names the keys of installations that are signed in, each as it was reported last")
    func directory() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let keys = (0..<4).map { _ in Self.key() }
        try await install(test, ann, "tablet", handle: 1, key: keys[0])
        try await install(test, ann, "phone", handle: 2, key: keys[1])
        try await install(test, ann, "old-app", handle: 3, key: nil)
        try await install(test, bob, "bobs", handle: 4, key: keys[2])
        try await test.register(ann, handle: 5)
        test.clock.advance(by: .seconds(60))
        try await install(test, ann, "phone", handle: 2, key: keys[3])
        let found = try await test.backend.sealingDirectory(users: ["Ann", "bob", "nobody"], for: bob).keys
        #expect(found.map(\.installation.text) == ["phone", "tablet", "bobs"])
        #expect(found.map(\.key) == [keys[3], keys[0], keys[2]])
        #expect(found.map(\.user) == ["ann", "ann", "bob"])
        #expect(found[0].since - found[1].since == .seconds(60))
        try await test.backend.deleteInstallation(id: found[0].installation, for: ann)
        #expect(try await test.backend.sealingDirectory(users: nil, for: ann).keys.map(\.key) == [keys[0]])
    }

    @Test("a sealed push for one user says for whom it is, as others do")
    func subject() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let number = try #require(RichID(number: try await number(test, ann)))
        _ = try await test.backend.send(request(test, ann, number: number), idempotencyKey: nil, for: ann)
        let sent = try #require(test.hub.sends.first)
        let push = try #require(PushEnvelope(payload: Data(sent.command.message.body)))
        #expect(push.kind == .sealed)
        #expect(push.subject != nil)
    }

    @Test("a plain user gets their own keys only, and a phone gets none")
    func rights() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        _ = try await test.user("bob")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let backend = test.backend
        #expect(try await backend.sealingDirectory(users: ["ann"], for: ann).keys.isEmpty)
        #expect(await code { _ = try await backend.sealingDirectory(users: ["bob"], for: ann) } == .forbidden)
        #expect(await code { _ = try await backend.sealingDirectory(users: ["ann", "bob"], for: ann) } == .forbidden)
        #expect(await code { _ = try await backend.sealingDirectory(users: nil, for: phone) } == .forbidden)
        for wrong in [[], ["a b"], ["ann", "ann"], (0..<21).map { "user\($0)" }] {
            #expect(await code { _ = try await backend.sealingDirectory(users: wrong, for: ann) } == .invalidField)
        }
    }

    @Test("a service key gets the keys of users to whom it may send")
    func serviceKeys() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        let backend = test.backend
        let shop = try await test.signIn(with: try await test.key("shop", "send:shop:"))
        #expect(await code { _ = try await backend.sealingDirectory(users: ["ann"], for: shop) } == .forbidden)
        #expect(try await backend.sealingDirectory(users: nil, for: shop).keys.isEmpty)
        let team = try await test.signIn(with: try await test.key("team", "send:username:an"))
        #expect(try await backend.sealingDirectory(users: ["ann"], for: team).keys.isEmpty)
        #expect(await code { _ = try await backend.sealingDirectory(users: ["ann", "bob"], for: team) } == .forbidden)
    }

    @Test("a hundred keys are named, and a hundred and one are too many for a seal")
    func manyKeys() async throws {
        // More devices than a user may have by default, which would end this before the seal does.
        let test = try await TestBackend { $0.userDevices = 101 }
        let ann = try await test.user("ann")
        for index in 0..<100 { try await install(test, ann, "phone-\(index)", handle: 100 + index, key: Self.key()) }
        #expect(try await test.backend.sealingDirectory(users: nil, for: ann).keys.count == 100)
        try await install(test, ann, "phone-100", handle: 200, key: Self.key())
        #expect(await code { _ = try await test.backend.sealingDirectory(users: nil, for: ann) } == .invalidField)
    }

    @Test("a key is 32 bytes in base64, and nothing else is stored")
    func malformed() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        for key in ["", "x", Data(count: 31).base64EncodedString(), Data(count: 33).base64EncodedString(), Self.key() + "="] {
            #expect(await code { try await install(test, ann, "phone", handle: 1, key: key) } == .invalidField)
        }
        #expect(try await test.rows(of: "bindings") == 0)
    }

    @Test("numbers stay in the order of the sends: what was asked for ahead is skipped to, and never gone back to")
    func numbers() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let given = try await number(test, ann)
        #expect((1...16).contains(given))
        let first = try await test.send(ann)
        #expect(first.number == 1)
        let asked = try #require(RichID(number: 40))
        let sealed = try await request(test, ann, number: asked)
        #expect(try await test.backend.send(sealed, idempotencyKey: nil, for: ann).id == asked)
        #expect(try await test.send(ann).number == 41)
        for wrong: Int32 in [1, 40, 41, 41 + 65, .max] {
            let late = try await request(test, ann, number: try #require(RichID(number: wrong)))
            #expect(await code { _ = try await test.backend.send(late, idempotencyKey: nil, for: ann) } == .conflict, "\(wrong)")
        }
        let farthest = try await request(test, ann, number: try #require(RichID(number: 41 + 64)))
        #expect(try await test.backend.send(farthest, idempotencyKey: nil, for: ann).id.number == 105)
        #expect(try await test.inbox(ann).map(\.number) == [105, 41, 40, 1])
        #expect((106...121).contains(try await number(test, ann)))
    }

    @Test("a repeat with the same key gets the first answer, whatever was sent in between")
    func repeated() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let sealed = try await request(test, ann, number: try #require(RichID(number: 3)))
        let first = try await test.backend.send(sealed, idempotencyKey: "k", for: ann)
        _ = try await test.send(ann)
        #expect(try await test.backend.send(sealed, idempotencyKey: "k", for: ann) == first)
    }

    @Test("of a sealed send inbox and push say the neutral words, and its variants are what was uploaded")
    func neutral() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        try await install(test, ann, "phone", handle: 1, key: Self.key())
        var sealed = try await request(test, ann, number: try #require(RichID(number: 3)))
        let envelope = Self.sealed()
        sealed.thumbID = try await test.store(envelope, ann)
        let id = try await test.backend.send(sealed, idempotencyKey: nil, for: ann).id
        let entry = try await test.backend.details(of: id, for: ann)
        #expect(entry.kind == .sealed)
        #expect(entry.message == "You have a new message")
        #expect(entry.title == nil)
        #expect(entry.content?.mediaType == "application/vnd.clarion.sealed")
        #expect(entry.content?.fileName == nil)
        #expect(try await test.content(of: id, .thumb, for: ann) == envelope)
    }

    @Test("what was sealed for others is in the lists of those alone, and the answer says that later devices do not open it")
    func sealedForOthers() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let clear = try await test.send(ann, to: "username:bob")
        var sealed = try await request(test, ann, number: try #require(RichID(number: 3)))
        sealed.audience = "username:bob"
        let answer = try await test.backend.send(sealed, idempotencyKey: nil, for: ann)
        #expect(answer.readableBy.contains("on the devices that it was sealed for"))
        #expect(try await test.inbox(bob) == [answer.id, clear])
        #expect(try await test.inbox(ann) == [clear])
        var own = try await request(test, ann, number: try #require(RichID(number: 4)))
        own.audience = "username:bob || username:ann"
        let toBoth = try await test.backend.send(own, idempotencyKey: nil, for: ann).id
        #expect(try await test.inbox(ann) == [toBoth, clear])
    }

    @Test("noise that happens to hold a word of a page is stored, and only under the kind sealed")
    func sniffing() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(Self.sealed() + Array("<svg".utf8), ann)
        for kind in [ContentKind.file, .image] {
            let code = await code { _ = try await test.send(ann) { ($0.kind, $0.contentID) = (kind, content) } }
            #expect(code == .unsupportedContent)
        }
        #expect(await code { _ = try await test.send(ann) { $0.contentID = content } } == .invalidField)
        let picture = try await test.store(ann)
        var wrong = try await request(test, ann, number: try #require(RichID(number: 3)))
        wrong.thumbID = picture
        #expect(await code { _ = try await test.backend.send(wrong, idempotencyKey: nil, for: ann) } == .unsupportedContent)
        wrong.thumbID = nil
        wrong.contentID = picture
        #expect(await code { _ = try await test.backend.send(wrong, idempotencyKey: nil, for: ann) } == .unsupportedContent)
    }
}
