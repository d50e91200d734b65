import PushHub
import RichPushModel

/// What a send under way means for a device.
extension ExplanationFacts {
    /// The device's turn in a send by local time is still to come.
    func findingOfWait(for wave: WaveProgress) -> Explanation.Finding {
        guard local?.time != nil else {
            return .init(
                .heldForQuietHours, "It waits until the quiet hours of the app or the user end where the device is.",
                at: wave.moment,
                next: "Wait until then; send with `transactional` what has to leave at once.")
        }
        return .init(
            .waitsForLocalTime, "It is sent when the clock of the device shows the time: \(Self.place(of: wave)).",
            at: wave.moment, next: "Wait until then.")
    }

    /// The device's turn was over when the send was asked for.
    func findingOfPassed(_ wave: WaveProgress) -> Explanation.Finding {
        .init(
            .localTimePassed, "The clock of the device was past the time when the send was scheduled: \(Self.place(of: wave)).",
            at: wave.moment, next: "Send again, and schedule it a day ahead.")
    }

    /// The device has one of the zones, so their names are enough.
    private static func place(of wave: WaveProgress) -> String {
        let zones = wave.knownZones
        guard let first = zones.first else { return "its zone is not known" }
        return zones.count == 1 ? "it is in the zone \(first)" : "it is in a zone like \(first)"
    }

    /// Another push service that waits says nothing of the device.
    static func findingUnderWay(_ telemetry: NotificationTelemetry, for platform: Platform) -> Explanation.Finding {
        guard let wait = telemetry.wait(for: platform) else {
            return .init(.inProgress, "The send is under way.", at: telemetry.startedAt, next: "Ask again in a minute.")
        }
        guard wait.cause == .operator else {
            return .init(
                .waiting, "The send waits for APNs: \(OutcomeReason.words(of: wait.reason)).", at: telemetry.startedAt,
                next: "It goes on by itself when APNs takes pushes again.")
        }
        let (cause, next) = hindrance(wait.reason)
        return .init(
            cause, "The send waits for an operator: \(OutcomeReason.words(of: wait.reason)).", at: telemetry.startedAt,
            next: next)
    }

    /// The send ended before every device had its turn.
    static func findingOfEarlyEnd(_ telemetry: NotificationTelemetry) -> Explanation.Finding? {
        let at = telemetry.endedAt
        return switch telemetry.state {
        case .scheduled, .accepted, .dispatching, .completed: nil
        case .cancelled: .init(.cancelled, "The send was stopped at the hub, perhaps before this device's turn.", at: at)
        case .expired:
            .init(
                .tooLate, "The send's time ran out, perhaps before this device's turn.", at: at,
                next: "Send with a later `expiresAt`, or none.")
        case .failed: .init(.refused, "The hub could not send it at all.", at: at, next: "Look at the server's log.")
        }
    }

    /// More devices failed than the hub names.
    static func findingOfUnlisted(_ telemetry: NotificationTelemetry, listsFailures: Bool) -> Explanation.Finding? {
        let failures = telemetry.outcomes.filter { $0.key.isFailure }.values.reduce(0, +)
        guard failures > (listsFailures ? TargetFailure.limit : 0) else { return nil }
        return .init(
            .perhapsFailed, "\(failures) devices got no push, of which not all are listed; this one may be among them.",
            at: telemetry.endedAt, next: "Look at the reasons of the send: most have the same.")
    }

    /// What keeps a hub from sending at all, by the reason of APNs or of the transport.
    private static func hindrance(_ reason: String) -> (cause: ExplanationCause, next: String) {
        switch reason {
        case PushOutcome.noCredential:
            (.noCredential, "Set the APNs credential in the settings of the server, or of the hub.")
        case _ where RefusalReasons.ofTopic.contains(reason):
            (.topicRefused, "Compare the bundle id of the app with that of the credential, and the team that owns both.")
        case _ where RefusalReasons.ofCredential.contains(reason):
            (.credentialRefused, "`clarion doctor --apns` asks APNs about the key; make a new one if it was revoked.")
        default: (.waitsForOperator, "Run `clarion doctor` on the server.")
        }
    }
}

/// The reasons with which APNs and the transport refuse, by what has to be corrected.
enum RefusalReasons {
    static let ofTopic: Set = ["BadTopic", "MissingTopic", "TopicDisallowed", "DeviceTokenNotForTopic"]
    static let ofCredential: Set = [
        "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
        "ExpiredProviderToken", "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken", "credential-refused",
    ]
    static let ofHeaders: Set = [
        "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DuplicateHeaders", "InvalidPushType",
    ]
}

/// What a push that failed means for its device.
extension ExplanationFacts {
    func finding(of failure: TargetFailure, _ device: BoundDevice) -> Explanation.Finding {
        let reason = failure.reason.map { ": \($0)" } ?? ""
        let at = telemetry?.endedAt
        switch failure.outcome {
        case .accepted: return .init(.accepted, "APNs took the push.", at: at)
        case .skipped: return .init(.skipped, "Another record of the same device got the push.", at: at)
        case .gone:
            return .init(
                .gone, "APNs says that the app is no longer on the device\(reason).", at: at,
                next: "Let the user install the app.")
        case .badToken:
            return .init(
                .badToken, "APNs called the token bad\(reason).", at: at,
                next: "Compare the environment of APNs with that of the app's build; the app registers again when it starts.")
        case .rejected: return findingOfRejected(failure.reason ?? "", reason, at)
        case .tooLarge: return .init(.tooLarge, "The push was larger than APNs takes.", at: at, next: "Send less text.")
        case .invalidFormat:
            return .init(
                .invalidFormat, "The template of the device made no push of this send\(reason).", at: at,
                next: "Correct the template that the client registered.")
        case .unknown:
            return .init(
                .unknownOutcome, "It is not known whether the push arrived, and no tries are left\(reason).", at: at,
                next: "Look whether the server reached APNs then: `clarion doctor`.")
        case .expired:
            return .init(
                .tooLate, "Its time ran out before it could be sent\(reason).", at: at,
                next: "Send with a later `expiresAt`, or none.")
        case .noTransport:
            if let environment = device.environment, let environments, !environments.contains(environment) {
                let known = environments.isEmpty ? "none" : environments.joined(separator: " and ")
                return .init(
                    .otherEnvironment,
                    "The app is built for the environment \(environment), and the server has a credential for \(known).", at: at,
                    next: "Add a credential for \(environment), or give the user a build for another environment.")
            }
            return .init(
                .noTransport, "The server has no credential for the environment or platform of the device\(reason).", at: at,
                next: "Add the credential: `clarion doctor` says which there are.")
        case .capped: return Self.findingOfCapped(nil, at: at)
        case .removed:
            return .init(.removed, "The device signed out or left the audience before its push could be tried again.", at: at)
        }
    }

    /// The send had its turn, and the cap of the send kept it from the user. What was counted long ago is not known any more.
    func findingOfCap(_ device: Device, _ telemetry: NotificationTelemetry) -> Explanation.Finding? {
        guard let count = device.capCount, !count.isCounted, telemetry.outcomes[.capped, default: 0] > 0,
            now < send.dueAt + count.cap.window
        else { return nil }
        return Self.findingOfCapped(count.cap, at: telemetry.endedAt)
    }

    private static func findingOfCapped(_ cap: FrequencyCap?, at moment: Timestamp?) -> Explanation.Finding {
        let rule = cap.map { " of \($0.limit) sends of the kind \($0.name) in \($0.windowText)" } ?? ""
        return .init(
            .capped, "It was held back: the user had reached the limit\(rule).", at: moment,
            next: "Nothing, if the limit is as you want it (setting `frequency-caps`); the message is in the app's inbox.")
    }

    private func findingOfRejected(_ word: String, _ reason: String, _ at: Timestamp?) -> Explanation.Finding {
        if RefusalReasons.ofTopic.contains(word) {
            return .init(
                .topicRefused, "APNs refused the topic of the push\(reason).", at: at,
                next: "Compare the bundle id of the app with that of the credential, and the team that owns both.")
        }
        if RefusalReasons.ofHeaders.contains(word) {
            return .init(
                .headerRefused, "APNs refused a header of the push\(reason).", at: at,
                next: "Correct the header in the client that sends over the hub protocol.")
        }
        return .init(
            .rejected, "APNs refused the push\(reason).", at: at,
            next: "Documentation/Retries.md explains the reasons of APNs.")
    }
}
