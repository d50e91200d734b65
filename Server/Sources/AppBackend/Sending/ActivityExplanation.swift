import PushHub
import RichPushModel

/// All that the explanation of a Live Activity follows from. A value without I/O: the caller collects the facts.
struct ActivityExplanation {
    /// One device of the user that is in the audience.
    struct Device {
        var record: RecordID
        /// The version of its operating system, if it said so.
        var systemVersion: String?
        var facts: DeviceActivityFacts
        /// A later activity for the device that names this one as the one whose place it takes.
        var replacement: Int64?
        /// Why the push that starts the activity failed, and its latest update, if the hub has kept that.
        var failedStart: TargetFailure?
        var failedUpdate: TargetFailure?
    }

    /// A send of the activity.
    struct Send {
        var telemetry: NotificationTelemetry
        /// Whether the hub names any of the devices that got no push.
        var listsFailures: Bool
    }

    var user: User
    var activity: LiveActivity
    /// Absent where the hub knows of none: not yet, or not any more.
    var start: Send?
    var update: Send?
    /// Every binding that is remembered, newest first.
    var bindings: [Binding]
    var devices: [Device]

    var explanation: Explanation {
        let found = devices.map { Explanation.Device(device: $0.record.text, finding: finding(of: $0)) }
        return Explanation(finding: ExplanationCause.best(of: found.map(\.finding)) ?? findingOfNoDevice, devices: found)
    }

    private var findingOfNoDevice: Explanation.Finding {
        guard !bindings.isEmpty else {
            return .init(
                .neverADevice, "The user has signed in on no device.", next: "Let the user sign in in the app.")
        }
        guard bindings.contains(where: { $0.until == nil }) else {
            return .init(
                .signedOut, "The user is signed in on no device.", at: bindings.compactMap(\.until).max(),
                next: "Let the user sign in in the app.")
        }
        return .init(
            .notInAudience, "None of the user's iPhones matches the audience \(activity.draft.audience).",
            next: "Compare the tags of the devices with the audience.")
    }

    private func finding(of device: Device) -> Explanation.Finding {
        guard activity.phase == .active else {
            let sentence =
                device.facts.state == nil
                ? "It has ended. The system may keep the ended card on the lock screen for up to four hours."
                : "It has ended, and the device showed it when it last reported."
            return .init(.activityOver, sentence, at: activity.endedAt)
        }
        switch device.facts.state {
        case .starting?:
            return .init(
                .activityAsks, "The device shows it as it began: iOS gives no token until the user presses Allow on the card.",
                next: "Let the user press Always Allow, or use a channel, which needs no token.")
        case .stale?:
            return .init(
                .activityStale, "The device marks it as out of date: no update came before that moment.",
                at: activity.draft.content.staleAt, next: "Send an update with a later `staleAt`.")
        case .active?: return findingOfShown(device)
        case nil: return findingOfMissing(device)
        }
    }

    /// Revisions are reported while the app runs, so an older one alone says little.
    private func findingOfShown(_ device: Device) -> Explanation.Finding {
        let facts = device.facts
        if activity.published < activity.revision, let fault = activity.fault {
            return .init(
                .waiting, "The device shows it, and the latest update cannot leave: \(fault).",
                next: "It is tried again; `clarion doctor` looks for what is in the way.")
        }
        guard facts.revision != activity.published else { return .init(.activityShown, "The device shows it.") }
        if let failure = device.failedUpdate {
            return .init(
                .updateFailed, "The device shows it, and the latest update did not reach it: \(Self.text(of: failure)).",
                at: update?.telemetry.endedAt,
                next:
                    "It gets the newest state when its app runs and reports a new token. Documentation/Retries.md explains the outcomes."
            )
        }
        if let found = update?.findingOfDoubt { return found }
        guard let revision = facts.revision, revision < activity.published else {
            return .init(.activityShown, "The device shows it.")
        }
        let next =
            facts.permission == .rareUpdates
            ? "Wait: a device reports what it shows when its app runs. The user can allow more frequent updates in the settings."
            : "Wait: a device reports what it shows when its app runs. Keep priority 10 for what matters."
        return .init(
            .activityBehind, "The device shows it, and last reported revision \(revision) of \(activity.published).", next: next)
    }

    private func findingOfMissing(_ device: Device) -> Explanation.Finding {
        let facts = device.facts
        if facts.permission == .off {
            return .init(
                .activitiesOff, "The user does not allow the app to have Live Activities.",
                next: "The user can allow them in the phone's settings.")
        }
        guard facts.hasReported else {
            return .init(
                .activitiesNotReported, "The app on the device has reported nothing about Live Activities.",
                next: "Update to an app that links RichPushActivities, and let the user open it once.")
        }
        if let replacement = device.replacement {
            return .init(
                .activityOver, "Activity \(replacement) takes its place: the device ends this one once it shows that one.",
                next: "Look at that one: `clarion activity explain \(replacement) \(user.name)`.")
        }
        guard activity.draft.startsByPush else {
            return .init(.activityNotBegun, "No push starts it: the app has not started it yet.")
        }
        guard activity.published > 0 else {
            return .init(
                .waiting, "Its start has not left yet\(activity.fault.map { ": \($0)" } ?? "").", at: activity.createdAt,
                next: "Ask again in a minute.")
        }
        if let failure = device.failedStart {
            return .init(
                .startFailed, "The push that starts it did not reach the device: \(Self.text(of: failure)).",
                next: "Documentation/Retries.md explains the outcomes.")
        }
        guard let startTokenAt = facts.startTokenAt else {
            return .init(
                .noStartToken, "iOS has given the app no token that starts an activity of this type.",
                next: "Compare the name of the type. Let the user open the app; some devices wait long, so send a notification.")
        }
        return start?.findingOfDoubt ?? findingOfCrowd(device) ?? findingOfOldToken(device) ?? findingOfUnseen(startTokenAt)
    }

    /// iOS refuses to start another one beside so many, and says nothing of it to the server (Reference/LiveActivities.md#1-2).
    private func findingOfCrowd(_ device: Device) -> Explanation.Finding? {
        guard device.facts.others >= LiveActivity.shownAtOnce else { return nil }
        return .init(
            .startAccepted,
            "Its start has left, but the device shows \(device.facts.others) other activities of the app, and iOS shows "
                + "\(LiveActivity.shownAtOnce) at once: it may have dropped this start.",
            at: activity.createdAt, next: "End an activity that matters less, then start this one again.")
    }

    /// After an update of the system, APNs may take starts to a token of before, which then show nothing (Reference/LiveActivities.md#2-1).
    private func findingOfOldToken(_ device: Device) -> Explanation.Finding? {
        guard let former = device.facts.startTokenSystem, let now = device.systemVersion, former != now else { return nil }
        return .init(
            .startAccepted,
            "Its start has left, but the device's token for starts is from \(former), and it has \(now) now: the token may be dead.",
            at: activity.createdAt,
            next: "Let the user switch Live Activities of the app off and on. Until then send a notification.")
    }

    private static func text(of failure: TargetFailure) -> String {
        failure.outcome.rawValue + (failure.reason.map { ", \($0)" } ?? "")
    }

    private func findingOfUnseen(_ startTokenAt: Timestamp) -> Explanation.Finding {
        let isNewer = startTokenAt > activity.createdAt
        return .init(
            .startAccepted,
            isNewer
                ? "Its start has left, and the device's token for starts is newer than that: it may have come too late."
                : "Its start has left and no failure is known, but the device reports no such activity: its app has not run since, or it was removed.",
            at: activity.createdAt,
            next: isNewer
                ? "Start another one if it matters."
                : "If it happens often after an update of iOS, let the user switch Live Activities of the app off and on.")
    }
}

extension ActivityExplanation.Send {
    /// Why a push of the send may not have left for a device, although no failure of the device is known.
    fileprivate var findingOfDoubt: Explanation.Finding? {
        guard telemetry.state.isFinal else { return ExplanationFacts.findingUnderWay(telemetry, for: .apns) }
        return ExplanationFacts.findingOfEarlyEnd(telemetry)
            ?? ExplanationFacts.findingOfUnlisted(telemetry, listsFailures: listsFailures)
    }
}
