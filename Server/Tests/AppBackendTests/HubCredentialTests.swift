import AppBackend
import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Synchronization
import Testing

/// Answers every push in the same way, and keeps the batches.
private final class OneAnswer: PushTransport {
    private let outcome: PushOutcome
    private let kept = Mutex<[PushBatch]>([])
    var batches: [PushBatch] { kept.withLock { $0 } }

    init(_ outcome: PushOutcome) { self.outcome = outcome }

    func send(_ batch: PushBatch) async -> PushOutcomes {
        kept.withLock { $0.append(batch) }
        return PushOutcomes(repeating: outcome, count: batch.targets.count)
    }
}

@Suite("The credentials of hubs for APNs")
struct HubCredentialTests {
    private static let key = HubCredentialRequest(
        key: "-----BEGIN secret-----", keyId: "KEY1234567", teamId: "TEAM123456", topic: "com.example.app", environment: "sandbox"
    )
    private static let certificate = HubCredentialRequest(
        certificate: Data("secret".utf8).base64EncodedString(), password: "word")

    private static func news(_ transport: OneAnswer? = nil, sends: Int = 100) async throws -> TestBackend {
        let test = try await TestBackend(transport: transport) { $0.senderSendsPerMinute = sends }
        _ = try await test.backend.createHub(HubCreation(name: "news"))
        return test
    }

    @Test("a key of a hub is shown by its ids, without the secret")
    func key() async throws {
        let test = try await Self.news()
        let answer = try await test.backend.setHubCredential(Self.key, of: "NEWS")
        #expect(answer.hasOwnAPNsCredential)
        let shown = try #require(try await test.backend.hub("news").apns)
        #expect([shown.kind, shown.environment] == ["key", "sandbox"])
        #expect([shown.keyId, shown.teamId, shown.topic] == ["KEY1234567", "TEAM123456", "com.example.app"])
        let text = String(decoding: try JSONEncoder().encode(try await test.backend.hub("news")), as: UTF8.self)
        #expect(!text.contains("secret"))
    }

    @Test("a certificate takes the place of a key, for production unless another is named")
    func certificate() async throws {
        let test = try await Self.news()
        _ = try await test.backend.setHubCredential(Self.key, of: "news")
        let shown = try #require(try await test.backend.setHubCredential(Self.certificate, of: "news").apns)
        #expect([shown.kind, shown.environment] == ["certificate", "production"])
        #expect([shown.keyId, shown.teamId, shown.topic] == [nil, nil, nil])
    }

    @Test("a credential that is removed is gone")
    func remove() async throws {
        let test = try await Self.news()
        _ = try await test.backend.setHubCredential(Self.key, of: "news")
        let answer = try await test.backend.removeHubCredential(of: "news")
        #expect(!answer.hasOwnAPNsCredential)
        #expect(try await test.backend.hub("news").apns == nil)
    }

    @Test(
        "what is neither a whole key nor a certificate is refused with the field",
        arguments: [
            ("key and", HubCredentialRequest()),
            ("key and", HubCredentialRequest(key: "k", keyId: "i", teamId: "t", certificate: "c")),
            ("key:", HubCredentialRequest(key: "k", keyId: "i")), ("key:", HubCredentialRequest(key: "k", teamId: "t")),
            ("password:", HubCredentialRequest(key: "k", keyId: "i", teamId: "t", password: "p")),
            ("keyId and", HubCredentialRequest(teamId: "t", certificate: "YQ==")),
            ("certificate:", HubCredentialRequest(certificate: "no base64!")),
            ("environment:", HubCredentialRequest(certificate: "YQ==", environment: "test")),
        ] as [(String, HubCredentialRequest)])
    func refused(field: String, request: HubCredentialRequest) async throws {
        let test = try await Self.news()
        let error = await refusal { _ = try await test.backend.setHubCredential(request, of: "news") }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.hasPrefix(field) == true)
        #expect(try await test.backend.hub("news").hasOwnAPNsCredential == false)
    }

    @Test(
        "the credential of the app backend's hub is changed by who manages keys, and by no other",
        arguments: [(["hubs"], ServiceErrorCode.forbidden), (["admin"], nil)])
    func ownHub(scopes: [String], expected: ServiceErrorCode?) async throws {
        let test = try await Self.news()
        _ = try await test.backend.createHub(HubCreation(name: "own"))
        let caller = try await test.signIn(with: try await test.key("office") { $0.scopes = scopes })
        #expect(await code { _ = try await test.backend.setHubCredential(Self.key, of: "OWN", by: caller) } == expected)
        #expect(await code { _ = try await test.backend.removeHubCredential(of: "own", by: caller) } == expected)
        #expect(await code { _ = try await test.backend.setHubCredential(Self.key, of: "news", by: caller) } == nil)
    }

    @Test("each change is audited, without the credential")
    func audited() async throws {
        let test = try await Self.news()
        let before = try await test.audit().last?.number ?? 0
        _ = try await test.backend.setHubCredential(Self.key, of: "news")
        test.clock.advance(by: .seconds(1))
        _ = try await test.backend.removeHubCredential(of: "news")
        let entries = try await test.audit(after: before)
        #expect(entries.map(\.action) == ["hub.changed", "hub.changed"])
        #expect(entries.map(\.object) == ["news", "news"])
        #expect(entries.map(\.details) == ["apns=set", "apns=removed"])
        #expect(!entries.contains { "\($0)".contains("secret") })
    }

    @Test(
        "APNs is asked with a device that does not exist",
        arguments: [
            (.badToken, .accepted, nil), (.accepted, .accepted, nil), (.gone(since: Timestamp(milliseconds: 0)), .accepted, nil),
            (.misconfigured(reason: "InvalidProviderToken"), .refused, "InvalidProviderToken"),
            (.unsupported, .refused, "no credential for this environment"),
            (.notSent(reason: "no connection"), .unknown, "no connection"),
            (.delayed(by: .seconds(10), reason: "away"), .unknown, "away"),
            (.unavailable(reason: "ServiceUnavailable", retryAfter: nil), .unknown, "ServiceUnavailable"),
            (.rejected(reason: "PayloadEmpty"), .unknown, "PayloadEmpty"),
            (.rejected(reason: "TopicDisallowed"), .refused, "TopicDisallowed"),
            (.rejected(reason: "DeviceTokenNotForTopic"), .accepted, nil), (.tooLarge, .unknown, nil),
        ] as [(PushOutcome, HubCredentialTrial.Result, String?)])
    func trial(outcome: PushOutcome, result: HubCredentialTrial.Result, reason: String?) async throws {
        let transport = OneAnswer(outcome)
        let test = try await Self.news(transport)
        let caller = try await test.user("root", .admin)
        let trial = try await test.backend.tryHubCredential(of: "news", by: caller)
        #expect(trial.result == result)
        #expect(trial.reason == reason)
    }

    @Test("each question is one silent push of the hub, to another device token")
    func push() async throws {
        let transport = OneAnswer(.badToken)
        let test = try await Self.news(transport)
        let caller = try await test.user("root", .admin)
        for _ in 0..<2 { _ = try await test.backend.tryHubCredential(of: "news", by: caller) }
        let name = try #require(HubName("news"))
        let hub = try #require(try await test.hubs.hub(named: name))
        #expect(transport.batches.map(\.hub) == [hub.id, hub.id])
        #expect(transport.batches.map(\.targets.count) == [1, 1])
        #expect(Set(transport.batches.map { $0.targets[0].handle }).count == 2)
        #expect(transport.batches[0].headers.map(\.pushType) == ["background"])
        #expect(transport.batches[0].headers.map(\.topic) == [nil])
    }

    @Test("a question counts as a send")
    func counted() async throws {
        let test = try await Self.news(OneAnswer(.badToken), sends: 1)
        let caller = try await test.user("root", .admin)
        _ = try await test.backend.tryHubCredential(of: "news", by: caller)
        #expect(await code { _ = try await test.backend.tryHubCredential(of: "news", by: caller) } == .tooManyRequests)
    }

    @Test("a hub that does not exist has no credential", arguments: ["none", "a b"])
    func unknown(name: String) async throws {
        let test = try await Self.news(OneAnswer(.badToken))
        let caller = try await test.user("root", .admin)
        #expect(await code { _ = try await test.backend.setHubCredential(Self.key, of: name) } == .notFound)
        #expect(await code { _ = try await test.backend.removeHubCredential(of: name) } == .notFound)
        #expect(await code { _ = try await test.backend.tryHubCredential(of: name, by: caller) } == .notFound)
    }
}
