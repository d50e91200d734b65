import HubProtocol
import Hummingbird
import NIOCore
import PushHub
import RichPushModel
import ServiceErrors

/// What became of a send (Reference/AzureNotificationHubs.md#2-9).
extension HubRoutes {
    func answerTelemetry(_ call: HubCall) async throws -> Response {
        guard let id = call.route.id.flatMap({ NotificationID($0) }), let telemetry = try await call.hub().telemetry(of: id),
            var details = NotificationDetails(telemetry, location: call.location.member(id.text))
        else { throw ServiceError(.notFound, "There is no notification with this id") }
        // The file names devices and their tokens, as feedback and whole lists do: it takes the same right.
        if call.grant.allows(anyOf: [.manage]), let files = call.options.files, let served = call.served,
            try await served.hub.hasErrors(telemetry)
        {
            details.errorDetailsURL = call.links(files, served).link(toErrorsOf: id)
        }
        return HubAnswer.body(details.answer(), as: HubAnswer.xml, .telemetry)
    }
}

extension NotificationDetails {
    /// What the protocol says of a send; `nil` for a cancelled one, of which there is no word that suits every client
    /// (Reference/AzureNotificationHubs.md#2-9).
    init?(_ telemetry: NotificationTelemetry, location: String) {
        guard let state = State(telemetry.state) else { return nil }
        self.init(id: telemetry.id.text, state: state)
        self.location = location
        enqueueTime = telemetry.enqueuedAt
        startTime = telemetry.startedAt
        endTime = telemetry.endedAt
        body = String(decoding: telemetry.body, as: UTF8.self)
        tags = telemetry.audience?.description
        targetPlatforms = telemetry.targetPlatforms
        outcomes = telemetry.outcomeCounts
    }
}

extension NotificationDetails.State {
    fileprivate init?(_ state: NotificationState) {
        switch state {
        case .scheduled: self = .scheduled
        case .accepted: self = .enqueued
        case .dispatching: self = .processing
        // Pollers end at Completed and Abandoned only; the counts say what did not arrive.
        case .completed, .expired: self = .completed
        case .failed: self = .abandoned
        case .cancelled: return nil
        }
    }
}

extension NotificationTelemetry {
    /// The words of Reference/AzureNotificationHubs.md#2-9.
    fileprivate var targetPlatforms: [String] {
        switch format {
        case .native(let platform): [NotificationFormat(platform: platform)?.rawValue ?? platform.rawValue]
        case .template:
            ["template"]
                + platformOutcomes.keys.compactMap { NotificationFormat(platform: $0)?.rawValue }.sorted().map { $0 + "template" }
        }
    }

    fileprivate var outcomeCounts: [OutcomeCounts] {
        var counts = platformOutcomes.compactMap { platform, outcomes in
            OutcomeCounts.Service(platform).map { OutcomeCounts($0, Self.named(outcomes)) }
        }
        counts.removeAll { $0.outcomes.isEmpty }
        guard counts.isEmpty, state == .completed else { return counts }
        // A send that ended without targets has a single `NoTargets` (Reference/AzureNotificationHubs.md#8-3, item 10); a template
        // send has it among Apple's counts.
        let service = platformOutcomes.keys.compactMap { OutcomeCounts.Service($0) }.first ?? .apns
        return [OutcomeCounts(service, [OutcomeCounts.Outcome(name: "NoTargets", count: 1)])]
    }

    /// Counts by the protocol's names.
    private static func named(_ outcomes: [TargetOutcome: Int]) -> [OutcomeCounts.Outcome] {
        var counts: [OutcomeCounts.Outcome] = []
        for outcome in TargetOutcome.allCases {
            guard let count = outcomes[outcome], count > 0 else { continue }
            // Two outcomes may have one name there.
            if let known = counts.firstIndex(where: { $0.name == outcome.wireName }) {
                counts[known].count += count
            } else {
                counts.append(OutcomeCounts.Outcome(name: outcome.wireName, count: count))
            }
        }
        return counts
    }
}

extension TargetOutcome {
    /// The outcome's name in telemetry (Reference/AzureNotificationHubs.md#2-9).
    var wireName: String {
        switch self {
        case .accepted: "Success"
        case .gone: "ExpiredChannel"
        case .badToken: "WrongToken"
        case .rejected: "PnsInterfaceError"
        case .tooLarge: "InvalidNotificationSize"
        case .invalidFormat: "InvalidNotificationFormat"
        case .unknown: "UnknownError"
        case .expired: "AbandonedNotificationMessages"
        case .skipped, .capped, .noTransport: "Skipped"
        case .removed: "Dropped"
        }
    }

    /// A sentence that says what the outcome means, with the reason if there is one.
    func sentence(reason: String?, platform: Platform = .apns) -> String {
        let words =
            switch self {
            case .accepted: "The Push Notification was successfully sent to the Push Notification System"
            case .gone: "The device is not registered with the Push Notification System any more"
            case .badToken: "The Token obtained from the Token Provider is wrong"
            case .rejected: "The Push Notification System refused the notification"
            case .tooLarge: "The notification is larger than the Push Notification System takes"
            case .invalidFormat: "The template made nothing that the Push Notification System takes"
            case .unknown: "It is not known whether the Push Notification System took the notification"
            case .expired: "The time of the notification ran out before it could be sent"
            case .skipped: "The notification was not sent: another registration of the device gets it"
            case .capped: "The notification was not sent: the user has had as many as the frequency cap allows"
            case .noTransport where !platform.hasTransport: OutcomeReferenceRoute.skipReason(platform)
            case .noTransport where platform == .browser: "This server has no keys for Web Push"
            case .noTransport where platform.service == .fcmv1: "This server has no service account of Firebase"
            case .noTransport: "This server has no credential for the environment of the device"
            case .removed: "The device was removed before the notification could be tried again"
            }
        return reason.map { "\(words) (\($0))" } ?? words
    }
}

extension TestSendReport.Result {
    /// A sentence for the answer to a test send (Reference/AzureNotificationHubs.md#2-10): what became of the one try.
    var sentence: String {
        let words =
            switch ending {
            case .deferred: "The Push Notification System refused the notification for now"
            case .unreachable: "The notification was not sent: the Push Notification System could not be used"
            case .unavailable: "The Push Notification System answered that it cannot serve now, and did not take the notification"
            case .misconfigured: "The notification was not sent: the credential or the configuration of this server is refused"
            case .unknown where reason == "deadline":
                "The Push Notification System did not answer in time; whether it took the notification is not known"
            case .unknown: "The connection ended before the answer; whether the Push Notification System took it is not known"
            case nil, .accepted, .gone, .badToken, .rejected, .tooLarge, .noTransport:
                outcome.sentence(reason: nil, platform: platform)
            }
        return reason.map { "\(words) (\($0))" } ?? words
    }
}

extension PnsFeedback {
    /// What the protocol says of a target that got no push. Where its handle is not kept, the element is there and empty: readers of the
    /// files take it for granted.
    init(_ error: SendError, of notification: NotificationID) {
        let owner: Owner? =
            if let installation = error.installation {
                .installation(installation.text)
            } else {
                error.record.map { .registration($0.text) }
            }
        self.init(
            time: error.notedAt, systemError: error.outcome.wireName,
            platform: NotificationFormat(platform: error.platform)?.rawValue ?? error.platform.rawValue,
            handle: error.handle.map { BrowserChannel.endpoint(in: $0.text) } ?? "", owner: owner,
            notificationID: notification.text)
    }
}

/// `GET /docs/outcomes`: what the outcomes in telemetry mean, as a text page.
public struct OutcomeReferenceRoute: Sendable {
    static let path = "/docs/outcomes"

    public init() {}

    /// Adds the route.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get(RouterPath(Self.path)) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/markdown; charset=utf-8", .cacheControl: "max-age=3600"],
                body: .init(byteBuffer: ByteBuffer(string: Self.markdown)))
        }
    }

    private static let markdown: String = {
        let rows = TargetOutcome.allCases.map { "| `\($0.wireName)` | \($0.sentence(reason: nil)). |" }
        let skipped = Platform.known.filter { !$0.hasTransport }.map {
            "| <a id=\"\(anchor($0))\"></a>`\(TargetOutcome.noTransport.wireName)` at \($0.rawValue) | \(skipReason($0)). |"
        }
        return (["# Outcomes of sends", "", "| Outcome | Meaning |", "| --- | --- |"] + rows + skipped).joined(separator: "\n")
            + "\n"
    }()

    /// The anchor of the explanation why pushes to a platform are skipped.
    static func anchor(_ platform: Platform) -> String { "skipped-\(platform.rawValue)" }

    /// Why they are.
    static func skipReason(_ platform: Platform) -> String {
        "This server stores registrations of platform \(platform.rawValue) and has no way yet to send to them"
    }
}
