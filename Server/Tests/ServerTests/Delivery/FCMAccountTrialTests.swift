import ClarionTesting
import CryptoExtras
import FCMDelivery
import FCMProtocol
import Foundation
import RichPushModel
import Synchronization
import Testing

@testable import ServerDelivery

@Suite("The trial of a service account")
struct FCMAccountTrialTests {
    // The library makes a key of this size whenever it is asked.
    private static let pem = try! _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
    private static let endpoint = "https://fcm.example"

    /// Answers each request for a token and each message as a test says.
    private final class Answers: FCMSending {
        private let token: FCMReply
        private let message: @Sendable (FCMRequest) -> FCMReply
        private let seen = Mutex<[FCMRequest]>([])

        /// Without another reply there is the access token `t`.
        init(token: FCMReply? = nil, _ message: @escaping @Sendable (FCMRequest) -> FCMReply) {
            self.token = token ?? FCMAccountTrialTests.status(200, #"{"access_token":"t","expires_in":60}"#)
            self.message = message
        }

        var requests: [FCMRequest] { seen.withLock { $0 } }

        func post(_ request: FCMRequest, within deadline: Duration) async -> FCMReply {
            seen.withLock { $0.append(request) }
            return request.url.hasPrefix(FCMAccountTrialTests.endpoint) ? message(request) : token
        }
    }

    private static func status(_ status: Int, _ body: String = "") -> FCMReply {
        .answered(FCMAnswer(status: status, body: Array(body.utf8), now: Timestamp(seconds: 0)))
    }

    private static func account(_ project: String = "shop") throws -> FCMServiceAccount {
        try FCMServiceAccount(projectID: project, privateKey: pem, clientEmail: "push@\(project).example")
    }

    private func finding(_ answers: Answers) async throws -> FCMAccountTrial.Finding {
        let trial = FCMAccountTrial(answers, endpoint: Self.endpoint, limit: .seconds(5), clock: ManualClock())
        return try #require(await trial.findings(about: [try Self.account()]).first)
    }

    @Test("asks FCM to check a message with the access token, and to deliver nothing")
    func question() async throws {
        let answers = Answers { _ in Self.status(200) }
        #expect(try await finding(answers) == .answered(.accepted, reason: "status 200"))
        let message = try #require(answers.requests.last)
        #expect(message.url == "https://fcm.example/v1/projects/shop/messages:send")
        #expect(message.headers.first { $0.name == "authorization" }?.value == "Bearer t")
        let body = try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any]
        #expect(body?["validate_only"] as? Bool == true)
        #expect(answers.requests.count == 2)
    }

    @Test("an account without an access token is not taken to FCM")
    func noToken() async throws {
        let answers = Answers(token: Self.status(400, #"{"error":"invalid_grant"}"#)) { _ in Self.status(200) }
        guard case .noToken(let refusal) = try await finding(answers) else {
            Issue.record("there is no token")
            return
        }
        #expect(refusal.isForGood)
        #expect(refusal.reason.contains("invalid_grant"))
        #expect(answers.requests.count == 1)
    }

    @Test(
        "a token endpoint that does not answer is another finding than FCM that does not",
        arguments: [FCMReply.notSent(reason: "nothing answers"), .unknown(reason: "nothing answers")])
    func silence(reply: FCMReply) async throws {
        #expect(try await finding(Answers(token: reply) { _ in Self.status(200) }) == .noEndpoint("nothing answers"))
        #expect(try await finding(Answers { _ in reply }) == .noAnswer("nothing answers"))
    }

    @Test("what FCM makes of the message is the finding, with its word")
    func answer() async throws {
        let body = #"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#
        #expect(
            try await finding(Answers { _ in Self.status(403, body) })
                == .answered(.permissionDenied, reason: "PERMISSION_DENIED"))
    }

    @Test("the findings of many accounts have the order of the accounts")
    func order() async throws {
        let accounts = try (0..<30).map { try Self.account("shop-\($0)") }
        let answers = Answers { Self.status($0.url.contains("shop-17/") ? 403 : 200) }
        let trial = FCMAccountTrial(answers, endpoint: Self.endpoint, limit: .seconds(5), clock: ManualClock())
        let found = await trial.findings(about: accounts)
        #expect(found.count == 30)
        #expect(found.indices.filter { found[$0] != .answered(.accepted, reason: "status 200") } == [17])
    }
}
