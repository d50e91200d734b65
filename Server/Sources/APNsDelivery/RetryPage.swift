import APNsProtocol
import PushHub
import RichPushModel

/// The text of `Documentation/Retries.md`: what follows each ending of a try, what each answer of APNs is, and the values of a send's
/// status. All tables are made from the values that the program decides by.
public enum RetryPage {
    /// The page.
    public static var markdown: String {
        """
        # When is a push tried again?

        This page is made from `RetryPage` in `Server/Sources/APNsDelivery`; a test fails when the two differ.

        ## How a try ends, and what follows

        The push service is APNs, [FCM](FCM.md#what-becomes-of-a-push), or that of a
        [browser](WebPush.md#what-becomes-of-a-push).

        \(RetryTable().markdown)
        The expiry is that of the send. Without one the setting `hub-retry-horizon` counts, from the first try. A wait is never shorter than
        a `Retry-After` of the push service, in seconds or as a date, of which at most \(words(PushRetryAdvice.maximum)) are believed. `hub-unknown-tries` sets the
        number of tries of a push without an answer. `clarion_push_doubtful_retries_total` counts the tries that may have been a second copy.

        ## What APNs answers

        | Status | Reason | Ends as | Least wait |
        | --- | --- | --- | --- |
        \(refusals.map(row).joined(separator: "\n"))

        A batch of \(APNsPushTransport.refusedBatch) or more pushes that APNs refuses as a whole for the topic of the credential ends as
        `misconfigured` and waits: the rest of a broadcast would be refused as well. An unknown reason counts by its status: 403 ends as
        `misconfigured`, 410 as `gone`, 503 as `unavailable`, 408, 429 and other 5xx as `deferred`, all others as `rejected`.

        A 410 whose moment lies before the device registered again counts as `rejected`, and the device stays. A 410 without a moment counts
        as `bad-token`.

        Apple asks for a wait of 15 minutes after a 5xx, and for one of no stated length after `TooManyRequests`
        ([APNs, section 4](Reference/APNs.md#4)). An unknown reason that ends as `deferred` waits at least
        \(words(PushRetryAdvice.afterTooManyRequests)) after status 429, and at least \(words(PushRetryAdvice.afterServerError)) after another status. Up to a tenth is
        added, so that the pushes do not all leave at once. A `Retry-After` takes the place of the least wait. A push whose expiry or
        horizon ends before the wait is over gets no other try, and counts at once. The node warns at its start of a `hub-retry-horizon`
        that may be too short for a second try.

        ## The values of a send's status

        `state` is one of:

        | Value | Meaning |
        | --- | --- |
        \(NotificationState.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }.joined(separator: "\n"))

        `outcomes` counts each target once, under one of these values:

        | Value | Meaning |
        | --- | --- |
        \(TargetOutcome.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }.joined(separator: "\n"))

        | Field | What it says |
        | --- | --- |
        | `targets` | How many devices the send is for. Absent while a send to more than 10,000 devices is under way, before a scheduled send is due, and with a hub elsewhere. |
        | `reasons` | For each outcome how many targets had which reason. `gone`, `bad-token`, `too-large` and the outcomes that are decided here have none. Of each slice of a send the first \(OutcomeReason.limit) reasons have a count of their own, and all others are `\(OutcomeReason.other)`. |
        | `waiting` | Present while the last try could not be made, or was refused for now. `for` is `operator` when an operator has to correct the credential or the configuration, and `push-service` when the push service or the way to it has to come back, or refused the next push for now: after `InternalServerError` of APNs that is a wait of at least \(words(PushRetryAdvice.afterServerError)). |
        | `warnings` | Sentences about a probable mistake, for example an audience of user names that meets no device. |
        | `failures` | For administrators: devices that got no push, with outcome and reason. The first \(TargetFailure.limit) of each of a send's slices are kept. A status shows at most \(TargetFailure.limit) of them, and `GET /api/v1/sends/{id}` shows all in pages. |

        """
    }

    /// Apple's reasons for a refused push ("Handling notification responses from APNs"), with their statuses.
    static let refusals: [(status: Int, reason: APNsReason)] = [
        (400, .badCollapseID), (400, .badDeviceToken), (400, .badExpirationDate), (400, .badMessageID), (400, .badPriority),
        (400, .badTopic), (400, .deviceTokenNotForTopic), (400, .duplicateHeaders), (400, .idleTimeout), (400, .invalidPushType),
        (400, .missingDeviceToken), (400, .missingTopic), (400, .payloadEmpty), (400, .topicDisallowed), (403, .badCertificate),
        (403, .badCertificateEnvironment), (403, .badEnvironmentKeyIDInToken), (403, .badEnvironmentKeyInToken),
        (403, .expiredProviderToken), (403, .forbidden), (403, .invalidProviderToken), (403, .missingProviderToken),
        (403, .unrelatedKeyIDInToken), (404, .badPath), (405, .methodNotAllowed), (410, .expiredToken), (410, .unregistered),
        (413, .payloadTooLarge), (429, .tooManyProviderTokenUpdates), (429, .tooManyRequests), (500, .internalServerError),
        (503, .serviceUnavailable), (503, .shutdown),
    ]

    /// The ending of a push that is refused so.
    static func ending(_ status: Int, _ reason: APNsReason) -> RetryTable.Ending {
        RetryTable.Ending(outcome(status, reason))
    }

    private static func outcome(_ status: Int, _ reason: APNsReason) -> PushOutcome {
        let rejection = APNsRejection(status: status, reason: reason, timestamp: status == 410 ? 0 : nil)
        return PushOutcome(.rejected(rejection), now: Timestamp(milliseconds: 0))
    }

    private static func row(_ refusal: (status: Int, reason: APNsReason)) -> String {
        let outcome = outcome(refusal.status, refusal.reason)
        let cells = [
            "\(refusal.status)", "`\(refusal.reason)`", "`\(RetryTable.Ending(outcome).rawValue)`", leastWait(outcome),
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private static func leastWait(_ outcome: PushOutcome) -> String {
        if case .retry(let after, _) = outcome { words(after) } else { "none" }
    }

    private static func words(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds > 60 && seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
    }
}

extension NotificationState {
    fileprivate var meaning: String {
        switch self {
        case .scheduled: "Accepted, and due later."
        case .accepted: "Accepted and due; nothing has been tried yet."
        case .dispatching: "Pushes are being sent, or wait for another try."
        case .completed: "Every target has an outcome."
        case .cancelled: "Cancelled or recalled before every target had an outcome."
        case .expired: "Every target has an outcome, and for at least one the time ran out."
        case .failed: "The send could not be dispatched at all."
        }
    }
}

extension TargetOutcome {
    fileprivate var meaning: String {
        switch self {
        case .accepted: "The push service took the push. That does not say that the user saw it."
        case .gone: "The push service says that the device token is dead. The registration is removed."
        case .badToken:
            "The token is malformed, or of another environment or project. The device gets no more pushes until it registers again."
        case .rejected: "The push service refused the push, and another try would not help or did not."
        case .tooLarge: "The push is larger than the push service takes."
        case .invalidFormat: "What a template made is nothing that the push service takes."
        case .unknown: "The push left and was not answered, and no more tries are made. It may have arrived."
        case .expired: "The time of the push ran out before it could leave."
        case .skipped: "Another registration of the same device gets the push."
        case .capped: "The user has had as many sends as the frequency cap allows."
        case .noTransport: "Nothing here sends to the platform, or to the environment of the device."
        case .removed: "The device was removed, or did not match any more, before the next try."
        }
    }
}
