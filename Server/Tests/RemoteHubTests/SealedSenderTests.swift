import Foundation
import HubProtocol
import NIOConcurrencyHelpers
import RichPushModel
import RichPushSealing
import Testing

@testable import RemoteHub

@Suite("Sending sealed through an app backend elsewhere")
struct SealedSenderTests {
    private static let secret = "Meet me at the old harbour"
    private static let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(repeating: 7, count: 5_000)

    /// A backend that keeps what it gets, and takes a number away a given number of times.
    private final class KeepingBackend: SealedBackend {
        struct State {
            var number: Int32 = 7
            var uploads: [Data] = []
            var sends: [SendRequest] = []
            var conflicts = 0
            var keys: [SealingDirectory.Key]
            /// The keys as they are after the next conflict.
            var later: [SealingDirectory.Key]?
        }

        let state: NIOLockedValueBox<State>

        init(_ keys: [SealingDirectory.Key], conflicts: Int = 0, later: [SealingDirectory.Key]? = nil) {
            state = NIOLockedValueBox(State(conflicts: conflicts, keys: keys, later: later))
        }

        func sealingDirectory(of users: [UserName]?) async throws -> SealingDirectory {
            let (number, keys) = state.withLockedValue { ($0.number, $0.keys) }
            return try SealingDirectory(number: #require(RichID(number: number)), keys: keys)
        }

        func upload(sealed bytes: Data) async throws -> String {
            state.withLockedValue { state in
                state.uploads.append(bytes)
                return "content-\(state.uploads.count)"
            }
        }

        func send(_ request: SendRequest, idempotencyKey: String) async throws -> SendAnswer {
            let isTaken = state.withLockedValue { state in
                state.sends.append(request)
                guard state.conflicts > 0 else { return false }
                state.conflicts -= 1
                state.number += 1
                state.keys = state.later ?? state.keys
                return true
            }
            if isTaken { throw Problem(type: "about:blank", title: "Conflict", status: 409, detail: nil, code: "conflict") }
            return SendAnswer(id: try #require(request.id), trackingID: "t", readableBy: "alice")
        }
    }

    private struct Device {
        let key = SealingPrivateKey()
        let installation: InstallationID
        let user: String
        var entry: SealingDirectory.Key {
            .init(installation: installation, user: user, key: key.publicKey.text, since: Timestamp(seconds: 1))
        }

        init(_ number: Int, of user: String = "alice") throws {
            installation = try #require(InstallationID("installation-\(number)"))
            self.user = user
        }

        func open(_ envelope: Data, _ number: Int32) throws -> SealedText {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            try envelope.write(to: file)
            return try SealedEnvelope(file).open(
                for: #require(RichID(number: number)), installation: installation, with: key
            ).text
        }
    }

    private func message() -> SealedMessage {
        SealedMessage(
            words: SealedText(kind: .image, message: Self.secret), content: SealingPart(bytes: Self.picture, format: .png))
    }

    @Test("content is sealed and stored once, its key is wrapped for each of a hundred installations, and all of them open it")
    func hundred() async throws {
        let devices = try (1...100).map { try Device($0) }
        let backend = KeepingBackend(devices.map(\.entry))
        let answer = try await SealedSender(backend).send(message(), to: [try #require(UserName("alice"))])
        #expect(answer.id.number == 7)
        let state = backend.state.withLockedValue { $0 }
        #expect(state.uploads.count == 2)
        let envelope = try #require(state.uploads.last)
        for device in devices { #expect(try device.open(envelope, 7).message == Self.secret) }
        #expect(throws: SealingError.self) { try Device(1).open(envelope, 7) }
        let request = try #require(state.sends.first)
        #expect(request.kind == .sealed)
        #expect(request.message.isEmpty)
        #expect(request.title == nil)
        #expect(request.audience == "username:alice")
        #expect(request.contentID == "content-1")
        #expect(request.thumbID == "content-2")
        for upload in state.uploads {
            #expect(upload.range(of: Data(Self.secret.utf8)) == nil)
            #expect(upload.range(of: Data(repeating: 7, count: 64)) == nil)
        }
    }

    private static func words(
        _ kind: ContentKind = .text, message: String = "Hello", _ change: (inout SealedText) -> Void = { _ in }
    )
        -> SealedMessage
    {
        var words = SealedText(kind: kind, message: message)
        change(&words)
        return SealedMessage(words: words)
    }

    /// Each with the field that is at fault.
    private static let unfitMessages: [(String, SealedMessage)] = [
        ("message", words(message: " \u{200B}")), ("message", words(message: String(repeating: "a", count: 2001))),
        ("message", words(message: "a\u{0}b")), ("title", words { $0.title = "" }), ("subtitle", words { $0.subtitle = "\n" }),
        ("altText", words { $0.altText = String(repeating: "a", count: 1001) }), ("link", words(.link)),
        ("link", words(.link) { $0.link = "javascript:alert(1)" }), ("link", words(.link) { $0.link = "http://x.example" }),
        ("link", words { $0.link = "https://x.example" }), ("coupon", words(.coupon)),
        ("coupon.code", words(.coupon) { $0.coupon = Coupon(code: "", headline: "Half price") }),
        ("content", words(.image)), ("kind", words(.sealed)), ("kind", words(ContentKind(rawValue: "hologram"))),
        (
            "content",
            SealedMessage(words: SealedText(message: "a"), content: SealingPart(bytes: picture, format: .png))
        ),
    ]

    @Test(
        "what a send in clear would be refused for is not sealed: only the sender could check it",
        arguments: unfitMessages.indices)
    func unfit(index: Int) async throws {
        let (field, message) = Self.unfitMessages[index]
        let backend = KeepingBackend([try Device(1).entry])
        let error = await #expect(throws: SealedSendError.self) { try await SealedSender(backend).send(message) }
        guard case .unfit(field, _)? = error else {
            Issue.record("\(field): \(String(describing: error))")
            return
        }
        #expect(backend.state.withLockedValue { $0.uploads.isEmpty && $0.sends.isEmpty })
    }

    @Test("when another send takes the number the envelope is made anew, and the content stays")
    func overtaken() async throws {
        let device = try Device(1)
        let backend = KeepingBackend([device.entry], conflicts: 2)
        let answer = try await SealedSender(backend).send(message())
        #expect(answer.id.number == 9)
        let state = backend.state.withLockedValue { $0 }
        // One content and three envelopes.
        #expect(state.uploads.count == 4)
        #expect(Set(state.sends.map(\.contentID)) == ["content-1"])
        #expect(try device.open(try #require(state.uploads.last), 9).message == Self.secret)
        await #expect(throws: SealedSendError.overtaken) {
            try await SealedSender(KeepingBackend([device.entry], conflicts: 99)).send(message())
        }
    }

    @Test(
        "when another send takes the number, sign-ins and sign-outs meanwhile count: the new keys open it, and new gaps are reported"
    )
    func changedMeanwhile() async throws {
        let (before, after, carol) = (try Device(1), try Device(2), try Device(3, of: "carol"))
        let users = try ["alice", "carol", "dave"].map { try #require(UserName($0)) }
        let backend = KeepingBackend([before.entry, carol.entry], conflicts: 1, later: [after.entry])
        var gaps: [String] = []
        _ = try await SealedSender(backend).send(message(), to: users, onGap: { gaps.append($0.user) })
        #expect(gaps == ["dave", "carol"])
        let state = backend.state.withLockedValue { $0 }
        #expect(state.uploads.count == 3)
        #expect(state.sends.count == 2)
        #expect(try after.open(try #require(state.uploads.last), 8).message == Self.secret)
        #expect(throws: SealingError.self) { try before.open(try #require(state.uploads.last), 8) }
        let gone = KeepingBackend([before.entry], conflicts: 1, later: [])
        await #expect(throws: SealedSendError.noKeys) { try await SealedSender(gone).send(message()) }
        #expect(gone.state.withLockedValue { $0.sends.count } == 1)
    }

    @Test("without a key, with too many or with one that is none nothing is uploaded")
    func refused() async throws {
        let many = try (1...101).map { try Device($0).entry }
        var bad = try Device(1).entry
        bad.key = "bm9uZQ=="
        let cases: [([SealingDirectory.Key], SealedSendError)] = [
            ([], .noKeys), (many, .tooManyInstallations(101)), ([bad], .badKey(user: "alice")),
        ]
        for (keys, expected) in cases {
            let backend = KeepingBackend(keys)
            await #expect(throws: expected) { try await SealedSender(backend).send(message()) }
            #expect(backend.state.withLockedValue { $0.uploads.isEmpty && $0.sends.isEmpty })
            #expect(!"\(expected)".contains(bad.key))
        }
    }

    @Test("pinned keys are the only ones, whatever the backend says")
    func pinned() async throws {
        let (alice, liar) = (try Device(1), try Device(2))
        let backend = KeepingBackend([liar.entry])
        _ = try await SealedSender(backend).send(message(), pinned: [alice.entry])
        let envelope = try #require(backend.state.withLockedValue { $0.uploads.last })
        #expect(try alice.open(envelope, 7).message == Self.secret)
        #expect(throws: SealingError.self) { try liar.open(envelope, 7) }
    }

    @Test("pinned keys without any of a named user are an error before anything is uploaded")
    func notPinned() async throws {
        let (alice, bob) = (try Device(1), try Device(2, of: "Bob"))
        let users = try ["alice", "bob"].map { try #require(UserName($0)) }
        for pinned in [[alice.entry], []] {
            let backend = KeepingBackend([alice.entry, bob.entry])
            let missing = pinned.isEmpty ? "alice" : "bob"
            await #expect(throws: SealedSendError.notPinned(user: missing)) {
                try await SealedSender(backend).send(message(), to: users, pinned: pinned)
            }
            #expect(backend.state.withLockedValue { $0.uploads.isEmpty && $0.sends.isEmpty })
        }
    }

    @Test("pinned keys of others than those named are not sealed for")
    func othersPinned() async throws {
        let (alice, bob) = (try Device(1), try Device(2, of: "Bob"))
        let backend = KeepingBackend([bob.entry])
        let pinned = [alice.entry, bob.entry]
        _ = try await SealedSender(backend).send(message(), to: [#require(UserName("bob"))], pinned: pinned)
        let envelope = try #require(backend.state.withLockedValue { $0.uploads.last })
        #expect(try bob.open(envelope, 7).message == Self.secret)
        #expect(throws: SealingError.self) { try alice.open(envelope, 7) }
    }

    @Test("devices that cannot open it are reported with their number before anything is uploaded, and may be refused there")
    func gaps() async throws {
        struct Refusal: Error {}
        let (old, new, third) = (try Device(1), try Device(2), try Device(3))
        let again = SealingDirectory.Key(
            installation: third.installation, user: "alice", key: new.entry.key, since: Timestamp(seconds: 9))
        let users = try ["alice", "carol"].map { try #require(UserName($0)) }
        let backend = KeepingBackend([old.entry, new.entry, again])
        let carol = try Device(4, of: "carol")
        var gaps: [SealedSendGap] = []
        _ = try await SealedSender(backend).send(
            message(), to: users, pinned: [old.entry, third.entry, carol.entry],
            onGap: { gap in
                #expect(backend.state.withLockedValue { $0.uploads.isEmpty })
                gaps.append(gap)
            })
        #expect(gaps.map(\.installations) == [3, 0])
        #expect(gaps.map(\.missing) == [1, 0])
        #expect(gaps.map(\.differing) == [1, 0])
        #expect(
            gaps.map(\.description) == [
                "2 of alice's 3 devices cannot open it: the keys given hold none for 1, the server names another key for 1",
                "carol is not signed in with an app that opens sealed content",
            ])
        let other = KeepingBackend([new.entry])
        await #expect(throws: Refusal.self) {
            try await SealedSender(other).send(message(), pinned: [old.entry]) { gap in
                #expect("\(gap)" == "alice's only device cannot open it: the keys given hold none for 1")
                throw Refusal()
            }
        }
        #expect(other.state.withLockedValue { $0.uploads.isEmpty && $0.sends.isEmpty })
    }

    @Test("over HTTP it signs its calls, names their types, and reports a refusal in the backend's text")
    func overHTTP() async throws {
        let device = try Device(1)
        let directory = SealingDirectory(number: try #require(RichID(number: 7)), keys: [device.entry])
        let problem = Problem(type: "about:blank", title: "No", status: 403, detail: "not you", code: "forbidden")
        let answers: [any Encodable] = [
            directory, ContentAnswer(id: "c", content: .init(mediaType: "a/b", byteCount: 1, sha256: "")), problem,
        ]
        let lines = try answers.enumerated().map { index, value in
            ScriptedTransport.Line.answer(
                HubResponse(status: index == 2 ? 403 : 200, body: Array(try JSONEncoder().encode(value))))
        }
        let transport = ScriptedTransport(lines)
        let backend = try RemoteAppBackend(
            "https://push.example.com/", user: #require(UserName("carol@x")), password: "geheim", options: .init(),
            transport: transport)
        let words = SealedMessage(words: SealedText(message: Self.secret))
        await #expect(throws: problem) { try await SealedSender(backend).send(words, to: [#require(UserName("a@b"))]) }
        #expect(
            transport.asked.map { "\($0.method) \($0.url)" } == [
                "GET https://push.example.com/api/v1/sealing?users=a%40b", "POST https://push.example.com/api/v1/content",
                "POST https://push.example.com/api/v1/notifications",
            ])
        #expect(transport.asked.allSatisfy { $0.headers["authorization"]?.hasPrefix("Basic ") == true })
        #expect(transport.asked[1].headers["content-type"] == "application/vnd.clarion.sealed")
        #expect(transport.asked[2].headers["idempotency-key"] != nil)
    }

    @Test(
        "a password goes over https, or to this machine",
        arguments: ["http://push.example.com", "ftp://127.0.0.1", "nowhere", "https://u@push.example.com", "https://x?y=z"])
    func address(text: String) throws {
        let user = try #require(UserName("carol"))
        #expect(throws: RemoteHubError.self) { try RemoteAppBackend(text, user: user, password: "p") }
    }
}
