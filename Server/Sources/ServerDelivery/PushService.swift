import APNsProtocol
import FCMDelivery
import FCMProtocol
import PushHub
import RichPushModel
import WebPushDelivery

/// A push service by the word that metrics have for it, and the words why pushes failed: a closed list for each.
package enum PushService: String, Sendable, CaseIterable {
    case apns, fcm
    case webPush = "web-push"

    /// That of a batch. Batches go to platforms with a transport alone.
    package init(_ platform: Platform) {
        self =
            switch platform.service {
            case .fcmv1: .fcm
            case .browser: .webPush
            default: .apns
            }
    }

    /// The word for a reason: `other` for one that is in no list, `none` without one.
    package func word(for reason: String) -> String {
        guard !reason.isEmpty else { return "none" }
        return switch self {
        case .apns: APNsFailure(rawValue: reason) != nil || APNsReason(rawValue: reason).isKnown ? reason : "other"
        // The server's own pace is no trouble, and no alert waits for it.
        case .fcm where reason == FCMTransport.paced: "paced"
        case .fcm: Self.code(reason) ?? Self.ofFCM[reason]?.rawValue ?? Self.statusClass(reason) ?? "other"
        case .webPush:
            // The cause stands behind it.
            reason.hasPrefix(WebPushTransport.resting)
                ? APNsFailure.serviceUnavailable.rawValue
                : Self.webPushSentences[reason]?.rawValue ?? Self.statusClass(reason) ?? "other"
        }
    }

    /// Every word with which a push can wait for an operator. An alert waits for a rise of each.
    package var misconfigurations: Set<String> {
        switch self {
        case .apns: Self.refusalsOfAPNs.union([APNsFailure.credentialRefused.rawValue, "other"])
        case .fcm:
            [
                "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", "UNSPECIFIED_ERROR", "PERMISSION_DENIED",
                "NOT_FOUND", "2xx", "3xx", "4xx", "other",
            ]
        case .webPush: ["4xx", "other"]
        }
    }

    private static var refusalsOfAPNs: Set<String> {
        let refusals = APNsReason.documented.filter {
            switch APNsRejection(status: 403, reason: $0).disposition {
            case .fixConfiguration, .newToken, .newConnection: true
            case .drop, .removeToken, .badToken, .fixRequest, .later: false
            }
        }
        // A batch that is refused as a whole for its topic waits for the operator too.
        return Set(refusals.union([.topicDisallowed, .badTopic]).map(\.rawValue))
    }

    /// The code of a reason of FCM, without the field that it complains of.
    private static func code(_ reason: String) -> String? {
        reason.split(separator: " ", maxSplits: 1).first.map(String.init).flatMap { FCMAnswer.codes.contains($0) ? $0 : nil }
    }

    /// `4xx` of `status 404`.
    private static func statusClass(_ reason: String) -> String? {
        guard reason.hasPrefix("status "), let status = Int(reason.dropFirst(7)), (100...599).contains(status) else { return nil }
        return "\(status / 100)xx"
    }

    private static let ofFCM: [String: APNsFailure] = {
        let all = APNsFailure.allCases.map { ($0.rawValue, $0) }
        return Dictionary(all + [(FCMTransport.noTime, APNsFailure.deadline)]) { first, _ in first }
    }()

    private static let webPushSentences: [String: APNsFailure] = {
        let failures: [(OutboundFailure, APNsFailure)] = [
            (.unreachable, .unreachable), (.untrusted, .tlsFailed), (.broken, .connectionClosed), (.busy, .queueFull),
            (.notProcessed, .refusedStream),
        ]
        let own: [(String, APNsFailure)] = [
            (WebPushTransport.noTime, .deadline), (WebPushClient.noAnswer, .deadline), (WebPushClient.noConnection, .deadline),
            (OutboundRefusal.noAddress.reason, .nameNotResolved),
        ]
        return Dictionary(failures.map { ($0.reason(late: WebPushClient.noAnswer), $1) } + own) { first, _ in first }
    }()
}
