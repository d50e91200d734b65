import APNsProtocol
import Foundation
import PushHub
import Testing

@testable import APNsDelivery

@Suite("The page about retries")
struct RetryPageTests {
    /// With `CLARION_RENEW_DOCUMENTATION=1` in the environment the page is written instead of compared.
    @Test("Documentation/Retries.md is made from the tables")
    func pageIsFresh() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appending(path: "Documentation/Retries.md")
        if ProcessInfo.processInfo.environment["CLARION_RENEW_DOCUMENTATION"] == "1" {
            try RetryPage.markdown.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == RetryPage.markdown)
    }

    @Test("the page has every reason of a refused push that Apple documents")
    func everyReason() {
        let others: Set = [
            "FeatureNotEnabled", "MissingChannelId", "BadChannelId", "ChannelNotRegistered", "BadRequestParams",
            "BadRequestPayload", "MissingPushType", "CannotCreateChannelConfig", "TopicMismatch",
        ]
        let listed = Set(RetryPage.refusals.map(\.reason.rawValue))
        #expect(listed.count == RetryPage.refusals.count)
        #expect(Set(APNsReason.documented.map(\.rawValue)).subtracting(others) == listed)
    }

    @Test("the page has the least wait of every reason that is refused for now, and of no other")
    func leastWaits() {
        let rows = RetryPage.markdown.split(separator: "\n").filter { $0.hasPrefix("| 4") || $0.hasPrefix("| 5") }
        #expect(rows.count == RetryPage.refusals.count)
        #expect(
            rows.filter { !$0.hasSuffix("| none |") } == [
                "| 429 | `TooManyRequests` | `deferred` | 60 s |", "| 500 | `InternalServerError` | `deferred` | 15 min |",
            ])
        #expect(PushRetryAdvice.afterTooManyRequests == .seconds(60) && PushRetryAdvice.afterServerError == .seconds(900))
        #expect(RetryPage.markdown.contains("at least the least wait of the reason"))
    }

    @Test(
        "what Apple says never to try again ends for good",
        arguments: [
            (400, "BadDeviceToken", RetryTable.Ending.badToken), (400, "DeviceTokenNotForTopic", .rejected),
            (403, "Forbidden", .rejected), (400, "BadTopic", .rejected), (400, "TopicDisallowed", .rejected),
            (410, "ExpiredToken", .gone), (410, "Unregistered", .gone), (413, "PayloadTooLarge", .tooLarge),
        ])
    func never(status: Int, reason: String, ending: RetryTable.Ending) {
        #expect(RetryPage.ending(status, APNsReason(rawValue: reason)) == ending)
        #expect(RetryTable().rule(for: ending, pushType: "alert").tries == .once)
    }
}
