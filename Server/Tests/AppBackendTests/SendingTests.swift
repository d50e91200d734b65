import AppBackend
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite struct SendingTests {
    private func body(_ sent: ScriptedHub.Sent) -> String { String(decoding: sent.command.message.body, as: UTF8.self) }

    @Test("the rich push tutorial's send is its silent push, to the byte, to the caller's own devices")
    func tutorial() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let phone = try await test.register(ann, handle: 1)
        try await test.register(bob, handle: 2)
        try await test.backend.setDefaultPicture(Sample.png, fileName: "picture.png")
        let answer = try await test.backend.sendDefaultPicture(for: ann)
        let sent = try #require(test.hub.sends.first)
        #expect(
            body(sent) == #"{"aps":{"content-available":1},"richId":"1","richMessage":"Check this image out!","richType":"img"}"#)
        #expect(sent.command.message.pushType == "background")
        #expect(sent.command.message.priority == 5)
        #expect(sent.devices.map(\.text) == [phone])
        #expect(answer.trackingID == sent.receipt.id.text)
        #expect(try await test.content(of: answer.id, for: ann) == Sample.png)
    }

    @Test("without a picture the rich push tutorial's send says so")
    func noPicture() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await test.backend.sendDefaultPicture(for: ann) } == .notReady)
        #expect(
            await code { try await test.backend.setDefaultPicture(Array("<svg>".utf8), fileName: "x.svg") } == .unsupportedContent
        )
    }

    @Test("the Notify Users tutorial's send is a plain alert from the sender to one user")
    func predecessor() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob", .user))
        let phone = try await test.register(bob, handle: 2)
        let answer = try await test.backend.sendText("Say \"hi\"\n", platform: "apns", toUser: "BOB", for: ann)
        let sent = try #require(test.hub.sends.first)
        #expect(body(sent) == #"{"aps":{"alert":"From ann: Say \"hi\"\n"}}"#)
        #expect(sent.command.message.pushType == "alert")
        #expect(sent.devices.map(\.text) == [phone])
        let entry = try await test.backend.details(of: answer.id, for: bob)
        #expect(entry.kind == .text)
        #expect(entry.sender == "ann")
        #expect(
            await code { _ = try await test.backend.sendText("x", platform: "gcm", toUser: "bob", for: ann) } == .invalidField)
        #expect(
            await code { _ = try await test.backend.sendText("x", platform: "apns", toUser: "bob || ann", for: ann) }
                == .invalidField)
        #expect(await code { _ = try await test.backend.sendText("x", platform: "apns", toUser: "ann", for: bob) } == .forbidden)
    }

    @Test("a pace goes with the send to the hub, also when the hub is asked again later")
    func pace() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var request = SendRequest(message: "slowly")
        request.pushesPerSecond = 25
        _ = try await test.backend.send(request, idempotencyKey: nil, for: ann)
        request.pushesPerSecond = nil
        _ = try await test.backend.send(request, idempotencyKey: nil, for: ann)
        #expect(test.hub.sends.map(\.command.pushesPerSecond) == [25, nil])
        for wrong in [0, -3, 100_001] {
            request.pushesPerSecond = wrong
            #expect(await code { _ = try await test.backend.send(request, idempotencyKey: nil, for: ann) } == .invalidField)
        }
    }

    @Test("an alert carries neutral words unless its preview is open")
    func alert() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(ann)
        _ = try await test.send(ann) { $0.contentID = content }
        _ = try await test.send(ann) {
            $0.contentID = content
            $0.preview = .open
            $0.style = .both
            $0.title = "Tïtle"
            $0.subtitle = "Sub"
            $0.sound = "ping.caf"
            $0.badge = 3
            $0.thread = "t"
            $0.collapseID = "c"
        }
        let sends = test.hub.sends
        #expect(
            body(sends[0])
                == #"{"aps":{"alert":{"body":"You have a new message"},"category":"richPush","mutable-content":1,"sound":"default"},"#
                + #""richFor":"76f9b8e91985f61e","richId":"1","richType":"img"}"#)
        #expect(
            body(sends[1])
                == #"{"aps":{"alert":{"title":"Tïtle","subtitle":"Sub","body":"Hello"},"badge":3,"category":"richPush","#
                + #""content-available":1,"mutable-content":1,"sound":"ping.caf","thread-id":"t"},"#
                + #""richFor":"b6c681bde8da9fc6","richId":"2","richMessage":"Hello","richType":"img"}"#)
        #expect(sends[1].command.message.collapseID == "c")
        #expect(sends.allSatisfy { $0.command.message.pushType == "alert" && $0.command.message.priority == 10 })
    }

    /// The first 16 digits of SHA-256 over "clarion subject 1", the number and the name, each on a line of its own.
    private static let marks = [
        "ann": ["76f9b8e91985f61e", "b6c681bde8da9fc6", "c7b046ed31330343"],
        "bob": ["9dadd7a8fc1e2a1d", "3b98ac2c5a6e4208", "0c8231f98ae5fb2a"],
    ]

    private static func mark(_ number: Int, _ user: String) -> String? { marks[user]?[number - 1] }

    private static let audiences: [(String?, String?)] = [
        (nil, "bob"), ("username:Ann", "ann"), ("news && username:ann", "ann"), ("(a || username:ann) && username:ANN", "ann"),
        ("username:ann || username:Ann && b", "ann"), ("username:ann || username:eve", nil), ("news", nil),
        ("!username:ann", nil),
        ("!news", nil), ("username:ann || news", nil), ("!(!username:ann)", nil), ("$UserId:{ann}", nil),
    ]

    @Test("a push says for whom it is exactly when its audience is one user", arguments: audiences)
    func subject(_ audience: String?, _ user: String?) async throws {
        let test = try await TestBackend()
        let bob = try await test.user("bob", .sender)
        for (number, style) in DeliveryStyle.allCases.enumerated() {
            _ = try await test.send(bob, to: audience) { $0.style = style }
            let sent = try #require(test.hub.sends.last)
            let push = try #require(PushEnvelope(payload: Data(sent.command.message.body)))
            #expect(push.subject?.text == user.flatMap { Self.mark(number + 1, $0) }, "\(style)")
        }
    }

    @Test("a neutral push holds none of the sender's words, whatever the style", arguments: DeliveryStyle.allCases)
    func neutral(_ style: DeliveryStyle) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.send(ann) {
            $0.message = "the secret words"
            $0.title = "the secret title"
            $0.subtitle = "the secret line"
            $0.altText = "the secret picture"
            $0.style = style
        }
        #expect(!body(try #require(test.hub.sends.first)).contains("secret"))
    }

    @Test("every push reads back as the envelope that a phone understands")
    func envelope() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var generator = SystemRandomNumberGenerator()
        for style in DeliveryStyle.allCases {
            let scalars = (0..<50).map { _ in
                Character(Unicode.Scalar(UInt32.random(in: 0x20...0xD7FF, using: &generator)) ?? "x")
            }
            let message = String(scalars.filter { !$0.unicodeScalars.contains { $0.value == 0x7F } })
            let id = try await test.send(ann) {
                $0.style = style
                $0.preview = .open
                $0.message = message
            }
            let sent = try #require(test.hub.sends.last)
            let read = try #require(PushEnvelope(payload: Data(sent.command.message.body)), "\(message)")
            #expect(read.id == id)
            #expect(Array(read.message.unicodeScalars) == Array(message.unicodeScalars))
            #expect(read.hasAlert == (style != .silent))
            #expect(read.wakesApp == (style != .alert))
        }
    }

    @Test("a push that Apple would refuse for its size is refused here, with its size")
    func tooLarge() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let long = String(repeating: "ö", count: 2000)
        let found = await code {
            _ = try await test.send(ann) {
                $0.message = long; $0.preview = .open
            }
        }
        #expect(found == .payloadTooLarge)
        #expect(try await test.inbox(ann).isEmpty)
        _ = try await test.send(ann) { $0.message = long }
        #expect(try await test.inbox(ann).count == 1)
    }

    @Test("a plain user sends to themself only; sender and admin to every user")
    func roles() async throws {
        let test = try await TestBackend()
        let (ann, bob, eve) = (
            try await test.user("ann", .user), try await test.user("bob", .sender), try await test.user("eve", .admin)
        )
        _ = try await test.send(ann)
        _ = try await test.send(ann, to: "username:ANN")
        for audience in ["username:bob", "news", "username:ann || username:bob", "!news", "username:ann && news"] {
            #expect(await code { _ = try await test.send(ann, to: audience) } == .forbidden, "\(audience)")
            _ = try await test.send(bob, to: audience)
            _ = try await test.send(eve, to: audience)
        }
    }

    @Test(
        "a malformed audience is the caller's mistake",
        arguments: [
            "", "a &&", "(a", "a b", "$Foo:{x}", "'; DROP TABLE users; --",
            (0...20).map { "t\($0)" }.joined(separator: " || "), String(repeating: "!", count: 5000) + "a",
        ])
    func audience(_ text: String) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await test.send(ann, to: text) } == .invalidAudience)
    }

    private static let mistakes: [@Sendable (inout SendRequest) -> Void] = [
        { $0.message = "" }, { $0.message = String(repeating: "x", count: 2001) }, { $0.message = "a\u{0}b" },
        { $0.message = "e" + String(repeating: "\u{301}", count: 50_000) },
        { $0.title = "" }, { $0.kind = ContentKind(rawValue: "hologram") }, { $0.expiresAt = Timestamp(milliseconds: 1) },
        { $0.collapseID = "" }, { $0.collapseID = "a\r\nb" }, { $0.collapseID = String(repeating: "x", count: 65) },
        { $0.collapseID = "ö" }, { $0.badge = -1 }, { $0.thread = "" }, { $0.sound = "../../x" },
        {
            $0.style = .silent; $0.sound = "default"
        },
        {
            $0.style = .silent; $0.badge = 1
        },
        { $0.kind = .image }, { $0.kind = .link }, { $0.kind = .coupon },
        {
            $0.kind = .text; $0.link = "https://example.org"
        },
        {
            $0.link = "https://example.org"; $0.contentID = "x"
        }, { $0.link = "javascript:alert(1)" },
        { $0.link = "http://example.org/" }, { $0.link = "https://u:p@example.org/" }, { $0.link = "//example.org" },
        { $0.link = "https://" }, { $0.link = "https://example.org/\r\nX" }, { $0.link = "data:text/html,x" },
        { $0.link = "https://example.org/" + String(repeating: "x", count: 2000) },
        { $0.coupon = Coupon(code: "", headline: "h") }, { $0.coupon = Coupon(code: "c", headline: "h\u{1}") },
    ]

    @Test("a malformed field is refused and nothing is stored", arguments: mistakes.indices)
    func mistake(_ index: Int) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await test.send(ann, Self.mistakes[index]) } == .invalidField)
        #expect(try await test.inbox(ann).isEmpty)
        #expect(test.hub.sends.isEmpty)
    }

    @Test("a link and a coupon become content that the phone fetches")
    func written() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let link = try await test.send(ann) { $0.link = "https://example.org/a?b=c" }
        let coupon = Coupon(code: "C/1", headline: "Ten off", validUntil: test.clock.now)
        let card = try await test.send(ann) { $0.coupon = coupon }
        #expect(String(decoding: try await test.content(of: link, for: ann), as: UTF8.self) == "https://example.org/a?b=c\r\n")
        #expect(try await test.backend.details(of: link, for: ann).kind == .link)
        let opened = try await test.backend.openContent(of: card, variant: .original, for: ann)
        #expect(opened.descriptor.mediaType == "application/json")
        #expect(try JSONDecoder().decode(Coupon.self, from: Data(try await TestBackend.bytes(of: opened))) == coupon)
    }

    @Test("the answer says who may read it")
    func readers() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let own = try await test.backend.send(SendRequest(message: "x"), idempotencyKey: nil, for: ann)
        #expect(own.readableBy.hasPrefix("you, on every device"))
        var request = SendRequest(message: "x")
        request.audience = "beta && !username:ann"
        let wide = try await test.backend.send(request, idempotencyKey: nil, for: ann)
        #expect(wide.readableBy.contains("every user with a device"))
    }
}
