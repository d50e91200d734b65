import HubProtocol
import PushHub
import RichPushModel
import TagExpressions
import WireText

extension NotificationTelemetry {
    /// The telemetry of a hub elsewhere in the hub's words (Reference/AzureNotificationHubs.md#2-9).
    init(_ details: NotificationDetails, id: NotificationID) {
        let enqueued = details.enqueueTime ?? details.startTime ?? Timestamp(milliseconds: 0)
        var counts: [Platform: [TargetOutcome: Int]] = [:]
        for service in details.outcomes {
            for outcome in service.outcomes {
                guard let known = TargetOutcome(wireName: outcome.name, at: service.service.platform), outcome.count > 0
                else { continue }
                counts[service.service.platform, default: [:]][known, default: 0] += outcome.count
            }
        }
        self.init(
            id: id, state: NotificationState(details.state), enqueuedAt: enqueued, dueAt: details.startTime ?? enqueued,
            startedAt: details.startTime, endedAt: details.endTime,
            outcomes: counts.values.reduce(into: [:]) { all, some in all.merge(some, uniquingKeysWith: +) },
            platformOutcomes: counts, format: Self.format(details.targetPlatforms),
            audience: details.tags.flatMap { try? TagExpression(parsing: $0) }, body: Array((details.body ?? "").utf8))
    }

    /// Azure's hub answers 404 for some time before telemetry can be read, up to half an hour. Its ids begin with the moment of the
    /// send, `{32 hex}-{yyyyMMddHHmmss}-…`; so long a send is not forgotten but accepted. `nil` for other ids and older sends.
    init?(youngID id: NotificationID, now: Timestamp) {
        let parts = id.text.split(separator: "-")
        guard parts.count >= 2, parts[0].utf8.count == 32, parts[1].utf8.count == 14, parts[1].allSatisfy(\.isNumber) else {
            return nil
        }
        let digits = Array(parts[1])
        let fields = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map { String(digits[$0]) }
        let text = "\(fields[0])-\(fields[1])-\(fields[2])T\(fields[3]):\(fields[4]):\(fields[5])Z"
        guard let moment = WireTime(text)?.moment, now < moment + .seconds(1800) else { return nil }
        self.init(id: id, state: .accepted, enqueuedAt: moment, dueAt: moment)
    }

    private static func format(_ platforms: [String]) -> SendFormat {
        let formats = platforms.compactMap { NotificationFormat(header: $0) }
        return formats.contains(.template) ? .template : .native(formats.first?.platform ?? .apns)
    }
}

extension NotificationState {
    init(_ state: NotificationDetails.State) {
        self =
            switch state {
            case .enqueued, .unknown: .accepted
            case .scheduled: .scheduled
            case .processing: .dispatching
            case .completed, .noTargetFound: .completed
            case .abandoned: .failed
            case .canceled: .cancelled
            }
    }
}

extension TargetOutcome {
    /// The outcome for a name of telemetry; `nil` for `NoTargets`, which counts nobody.
    init?(wireName: String, at platform: Platform) {
        switch wireName {
        case "NoTargets": return nil
        case "Success": self = .accepted
        case "ExpiredChannel": self = .gone
        case "WrongToken", "InvalidToken", "BadChannel", "WrongChannel": self = .badToken
        case "InvalidNotificationSize": self = .tooLarge
        case "InvalidNotificationFormat": self = .invalidFormat
        case "AbandonedNotificationMessages": self = .expired
        case "Skipped": self = platform.hasTransport ? .skipped : .noTransport
        case "Dropped": self = .removed
        case "PnsInterfaceError", "InvalidCredentials", "TokenProviderInterfaceError", "TokenProviderUnreachable":
            self = .rejected
        // Throttled, PnsServerError, PnsUnavailable, PnsUnreachable and what is to come.
        default: self = .unknown
        }
    }
}

extension OutcomeCounts.Service {
    fileprivate var platform: Platform {
        switch self {
        case .apns: .apns
        case .mpns: .mpns
        case .wns: .wns
        case .gcm, .fcm: .gcm
        case .adm: .adm
        case .fcmV1: .fcmv1
        case .baidu: .baidu
        case .browser: .browser
        case .xiaomi: .xiaomi
        }
    }
}
