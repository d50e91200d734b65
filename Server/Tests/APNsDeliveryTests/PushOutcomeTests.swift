import APNsProtocol
import PushHub
import RichPushModel
import Testing

@testable import APNsDelivery

@Suite("Outcomes in the hub's terms")
struct PushOutcomeTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static func refusal(_ status: Int, _ reason: String, timestamp: Int64? = nil, retryAfter: Int? = nil) -> APNsOutcome {
        .rejected(
            APNsRejection(
                status: status, reason: APNsReason(rawValue: reason), timestamp: timestamp, retryAfter: retryAfter))
    }

    @Test("a retry-after with a date counts from the date of the answer, else from this machine's clock")
    func retryAfterDate() {
        var rejection = APNsRejection(
            status: 503, reason: APNsReason(rawValue: "ServiceUnavailable"), retryAt: Self.now + .seconds(90))
        func pause(_ rejection: APNsRejection) -> PushOutcome {
            PushOutcome(.rejected(rejection), now: Self.now)
        }
        #expect(pause(rejection) == .unavailable(reason: "ServiceUnavailable", retryAfter: .seconds(90)))
        rejection.serverDate = Self.now + .seconds(60)
        #expect(pause(rejection) == .unavailable(reason: "ServiceUnavailable", retryAfter: .seconds(30)))
        rejection.serverDate = Self.now + .seconds(600)
        #expect(pause(rejection) == .unavailable(reason: "ServiceUnavailable", retryAfter: .zero))
    }

    @Test(
        "each outcome of APNs becomes its outcome of the hub",
        arguments: [
            (APNsOutcome.accepted(apnsID: nil, uniqueID: nil), PushOutcome.accepted),
            (
                refusal(410, "Unregistered", timestamp: 1_800_000_000_123),
                .gone(since: Timestamp(milliseconds: 1_800_000_000_123))
            ),
            (refusal(410, "ExpiredToken", timestamp: 5), .gone(since: Timestamp(milliseconds: 5))),
            (refusal(410, "Unregistered"), .badToken),
            (refusal(400, "BadDeviceToken"), .badToken),
            (refusal(400, "DeviceTokenNotForTopic"), .rejected(reason: "DeviceTokenNotForTopic")),
            (refusal(413, "PayloadTooLarge"), .tooLarge),
            (refusal(400, ""), .rejected(reason: "status 400")),
            (refusal(400, "TopicDisallowed"), .rejected(reason: "TopicDisallowed")),
            (refusal(403, "Forbidden"), .rejected(reason: "Forbidden")),
            (refusal(400, "BadTopic"), .rejected(reason: "BadTopic")),
            (refusal(403, "InvalidProviderToken"), .misconfigured(reason: "InvalidProviderToken")),
            (refusal(403, "ExpiredProviderToken"), .misconfigured(reason: "ExpiredProviderToken")),
            (refusal(403, "UnrelatedKeyIdInToken"), .misconfigured(reason: "UnrelatedKeyIdInToken")),
            (refusal(403, "NewReason"), .misconfigured(reason: "NewReason")),
            (refusal(429, "TooManyRequests"), .retry(after: .seconds(60), reason: "TooManyRequests")),
            (refusal(429, "TooManyRequests", retryAfter: 7), .retry(after: .seconds(7), reason: "TooManyRequests")),
            (refusal(429, "TooManyRequests", retryAfter: 999_999), .retry(after: .seconds(3600), reason: "TooManyRequests")),
            (refusal(429, "TooManyProviderTokenUpdates"), .unavailable(reason: "TooManyProviderTokenUpdates")),
            (refusal(500, "InternalServerError"), .retry(after: .seconds(900), reason: "InternalServerError")),
            (
                refusal(500, "InternalServerError", retryAfter: 30),
                .retry(after: .seconds(30), reason: "InternalServerError")
            ),
            (refusal(504, "", retryAfter: 9), .retry(after: .seconds(9), reason: "status 504")),
            (refusal(503, "ServiceUnavailable"), .unavailable(reason: "ServiceUnavailable")),
            (
                refusal(503, "ServiceUnavailable", retryAfter: 120),
                .unavailable(reason: "ServiceUnavailable", retryAfter: .seconds(120))
            ),
            (
                refusal(503, "Service Unavailable", retryAfter: 999_999),
                .unavailable(reason: "Service Unavailable", retryAfter: .seconds(3600))
            ),
            (refusal(503, "Shutdown"), .unavailable(reason: "Shutdown")),
            (refusal(503, "Shutdown", retryAfter: 5), .unavailable(reason: "Shutdown", retryAfter: .seconds(5))),
            (
                refusal(429, "TooManyProviderTokenUpdates", retryAfter: 60),
                .unavailable(reason: "TooManyProviderTokenUpdates", retryAfter: .seconds(60))
            ),
            (.notSent(.unreachable), .notSent(reason: "unreachable")),
            (.notSent(.credentialRefused), .misconfigured(reason: "credential-refused")),
            (.unknown(.deadline), .unknown(reason: "deadline")),
        ])
    func translation(outcome: APNsOutcome, expected: PushOutcome) {
        #expect(PushOutcome(outcome, now: Self.now) == expected)
    }
}
