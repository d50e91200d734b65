import PushHub
import RichPushModel
import TagExpressions

/// Why a user got a notification, or did not, or sees a Live Activity or not: one sentence for the user, and one for each of their devices that was meant.
public struct Explanation: Hashable, Sendable, Codable {
    /// The cause for one device.
    public struct Device: Hashable, Sendable, Codable {
        /// The id of the installation or registration.
        public var device: String
        /// In which language it gets the send; absent for the text of the send itself.
        public var language: String?
        public var finding: Finding
    }

    /// What was found.
    public struct Finding: Hashable, Sendable, Codable {
        /// A word for programs; `ExplanationCause` has them all.
        public var cause: String
        public var sentence: String
        /// When it happened, where that is known.
        public var at: Timestamp?
        /// What to do about it; absent where there is nothing to do.
        public var nextStep: String?

        init(_ cause: ExplanationCause, _ sentence: String, at moment: Timestamp? = nil, next nextStep: String? = nil) {
            self.cause = cause.rawValue
            self.sentence = sentence
            at = moment
            self.nextStep = nextStep
        }
    }

    /// What decided: the best that happened at any device, or why no device was meant.
    public var finding: Finding
    /// The user's group in an A/B test; absent for other sends, and for a user who is in none.
    public var group: String?
    /// The devices that were in the audience.
    public var devices: [Device]
}

extension Explanation {
    /// Whether there is no such user, send or activity.
    public var isOfUnknown: Bool {
        [ExplanationCause.unknownUser, .unknownSend, .unknownActivity].map(\.rawValue).contains(finding.cause)
    }

    /// What holds before any device is looked at.
    init(_ finding: Finding) { self.init(finding: finding, devices: []) }
}

/// What an explanation may find, from the best to the worst at a device, then what keeps a send from every device.
public enum ExplanationCause: String, Sendable, CaseIterable {
    case acted, opened
    case read = "read-in-the-inbox"
    case dismissed, fetched, delivered
    case accepted
    case quiet = "delivered-quietly"
    case acceptedSilently = "accepted-silently"
    case neverAsked = "permission-not-asked"
    case hidden = "permission-denied"
    case tooLateAtAPNs = "expired-at-apns"
    case notShown = "failed-at-the-device"
    case noSealingKey = "no-sealing-key"
    case inProgress = "in-progress"
    case scheduled
    case heldForQuietHours = "quiet-hours"
    case waitsForLocalTime = "waiting-for-local-time"
    case waiting
    case waitsForOperator = "waiting-for-an-operator"
    case noCredential = "no-credential"
    case credentialRefused = "credential-refused"
    case topicRefused = "topic-refused"
    case perhapsFailed = "not-listed"
    case registeredMeanwhile = "registered-meanwhile"
    case unknownOutcome = "unknown"
    case noToken = "no-token"
    case inactiveToken = "inactive-token"
    case forgotten = "not-at-the-hub"
    case badToken = "bad-token"
    case gone
    case rejected
    case headerRefused = "header-refused"
    case tooLarge = "too-large"
    case invalidFormat = "invalid-format"
    case tooLate = "expired"
    case localTimePassed = "local-time-passed"
    case otherEnvironment = "other-environment"
    case noTransport = "no-transport"
    case removed
    case skipped
    case capped = "frequency-cap"
    case cancelled

    case activityShown = "activity-shown"
    case activityBehind = "activity-behind"
    case activityStale = "activity-stale"
    case activityAsks = "activity-not-allowed-yet"
    case startAccepted = "activity-start-accepted"
    case updateFailed = "activity-update-failed"
    case startFailed = "activity-start-failed"
    case activityNotBegun = "activity-not-begun"
    case noStartToken = "no-start-token"
    case activitiesOff = "live-activities-off"
    case activitiesNotReported = "live-activities-not-reported"
    case activityOver = "activity-over"

    case unknownUser = "unknown-user"
    case unknownSend = "unknown-send"
    case unknownActivity = "unknown-activity"
    case userIsNewer = "user-is-newer"
    case recalled
    case refused = "refused-by-the-hub"
    case notHandedOver = "not-handed-over"
    case neverADevice = "never-a-device"
    case userDisabled = "user-disabled"
    case takenOver = "taken-over"
    case signedOut = "signed-out"
    case registeredLater = "registered-later"
    case notInAudience = "not-in-audience"
    case excluded = "excluded-by-the-audience"

    private static let ranks = Dictionary(uniqueKeysWithValues: allCases.enumerated().map { ($1.rawValue, $0) })

    /// The finding whose cause stands first.
    static func best(of findings: [Explanation.Finding]) -> Explanation.Finding? {
        findings.min { ranks[$0.cause, default: 0] < ranks[$1.cause, default: 0] }
    }
}

/// All that an explanation follows from. A value without I/O: the caller collects the facts.
struct ExplanationFacts {
    /// One device that was in the audience.
    struct Device {
        /// The latest that was in the audience.
        var binding: Binding
        /// Where in the order of sends the first such binding began.
        var since: OrderNumber
        /// What the hub has of it now.
        var record: DeviceRecord?
        /// Why its push failed, if the hub has kept that.
        var failure: TargetFailure?
        var receipts: [Receipt]
        /// When it is the device's turn in a send by local time.
        var wave: WaveProgress?
        /// What the frequency cap of the send says of the user, if it has one.
        var capCount: CapCount?
    }

    var user: User
    var send: RichNotification
    var telemetry: NotificationTelemetry?
    /// Whether the hub names devices that got no push. One elsewhere does not.
    var listsFailures: Bool
    /// Every binding that is remembered, newest first.
    var bindings: [Binding]
    var devices: [Device]
    /// Devices of the user that others took over.
    var taken: [TakenDevice] = []
    /// Whether the user has marked it as read.
    var isRead = false
    /// For which environments of APNs there is a credential; `nil` when that is not known.
    var environments: [String]?
    /// How the clocks of devices decide when it is due, if they do.
    var local: LocalDelivery?
    /// When the question is asked.
    var now: Timestamp

    var explanation: Explanation {
        let group = send.split?.group(of: user.name) ?? 0
        let found = devices.map { device in
            Explanation.Device(
                device: device.binding.device.record.text, language: language(of: device, inGroup: group),
                finding: finding(of: device).of(device.binding.device.platform))
        }
        let read = isRead ? Explanation.Finding(.read, "The user has read it in the app's inbox.") : nil
        let best = ExplanationCause.best(of: found.map(\.finding) + [read].compactMap(\.self))
        return Explanation(
            finding: findingOfSend ?? best ?? findingOfNoDevice, group: group > 0 ? send.split?.groups[group - 1].name : nil,
            devices: found)
    }

    private func language(of device: Device, inGroup group: Int) -> String? {
        let place = device.binding.device.facts?.preference.best(of: send.translations, inGroup: group)
        return place.flatMap { send.translations[$0].language?.text }
    }

    /// What holds for every device; `nil` when the devices decide.
    private var findingOfSend: Explanation.Finding? {
        if send.isRefused {
            return .init(
                .refused, "The hub refused this send, so nothing was sent.", next: "Look at the state of the send, and send anew."
            )
        }
        let isSeen = devices.contains { !$0.receipts.isEmpty }
        if let recalledAt = send.recalledAt, !isSeen {
            return .init(
                .recalled, "The sender recalled it; devices that had not shown it by then do not.", at: recalledAt)
        }
        if send.trackingID == nil, telemetry == nil, send.recalledAt == nil {
            return .init(
                .notHandedOver, "It is stored, and the hub has not taken it yet.", at: send.dueAt,
                next: "Wait a minute; if it stays, look at the server's log for this `rich_id`.")
        }
        return nil
    }

    private var findingOfNoDevice: Explanation.Finding {
        if user.order > send.order, send.audience.wantedTags.contains(.user(user.name)) {
            return .init(
                .userIsNewer, "The user was created after it was sent; an earlier user had the same name.", at: send.dueAt)
        }
        guard !bindings.isEmpty else {
            return .init(
                .neverADevice, "The user has signed in on no device.", next: "Let the user sign in in the app.")
        }
        let held = bindings.filter { $0.held(during: send) }
        guard held.isEmpty else {
            let tags = held.reduce(into: Set<Tag>()) { $0.formUnion($1.device.matchingTags) }
            return findingOutsideAudience(tags)
        }
        if let first = bindings.last(where: { $0.order > send.order }) {
            return .init(
                .registeredLater, "The user's device was registered after the send had ended.", at: first.from,
                next: "Send again.")
        }
        return findingOfSignedOut
    }

    private func findingOutsideAudience(_ tags: Set<Tag>) -> Explanation.Finding {
        let missing = send.audience.wantedTags.subtracting(tags).map(\.text).sorted()
        guard !missing.isEmpty else {
            return .init(
                .excluded, "The audience \(send.audience) leaves out the user's devices by a tag that they have.", at: send.dueAt,
                next: "Look at the tags of the devices and at what stands behind ! in the audience.")
        }
        return .init(
            .notInAudience, "None of the user's devices matched the audience \(send.audience) while it was sent.",
            at: send.dueAt, next: "Compare the tags of the devices: none had \(missing.joined(separator: ", ")).")
    }

    private var findingOfSignedOut: Explanation.Finding {
        if let disabledAt = user.disabledAt, disabledAt <= send.dueAt {
            return .init(
                .userDisabled, "The user was disabled before it was sent, which signs them out everywhere.", at: disabledAt,
                next: "Enable the user, let them sign in in the app, and send again.")
        }
        let last = bindings.max { $0.until ?? $0.from < $1.until ?? $1.from }
        if let last, let taken = taken.first(where: { $0.id == last.device.record.text }), taken.takenAt <= send.dueAt {
            return .init(
                .takenOver, "Another user had signed in on the user's device before it was sent.", at: taken.takenAt,
                next: "Let the user sign in on the device again: its pushes are for the other user now.")
        }
        return .init(
            .signedOut, "The user had signed out on every device before it was sent.", at: bindings.compactMap(\.until).max(),
            next: "Let the user sign in in the app, and send again.")
    }

    private func finding(of device: Device) -> Explanation.Finding {
        if let finding = finding(ofReceipts: device.receipts) { return finding }
        if let failure = device.failure {
            if failure.outcome == .expired, let wave = device.wave, let local, wave.moment < local.notBefore {
                return findingOfPassed(wave)
            }
            return finding(of: failure, device.binding.device)
        }
        guard device.binding.device.handle != nil else {
            return .init(
                .noToken, "The device has no token: the app was not allowed to register, or its phone has not answered yet.",
                next: "Let the user open the app while the phone is online.")
        }
        // A sign-out after the end of the send removed the record, which was there for the push.
        guard device.record != nil || wasThereAtTheEnd(device) else {
            return .init(
                .forgotten,
                "The hub has no record of the device: APNs said once that the app is gone from it, or it was removed.",
                next: "Let the user open the app: it registers again.")
        }
        // What happened to the token later was no matter to this send.
        if let inactiveAt = device.record?.inactiveAt, telemetry?.endedAt.map({ inactiveAt <= $0 }) ?? true {
            return .init(
                .inactiveToken, "APNs called the device's token bad, so it is in no audience until the app registers again.",
                at: inactiveAt, next: "Let the user open the app; if many are affected, compare the environment of APNs.")
        }
        guard let telemetry else {
            return .init(.unknownOutcome, "The hub does not know this send any more, and the device has reported nothing.")
        }
        return finding(of: device, telemetry)
    }

    private func wasThereAtTheEnd(_ device: Device) -> Bool {
        guard let until = device.binding.until, let end = telemetry?.endedAt else { return false }
        return end <= until
    }

    private func finding(of device: Device, _ telemetry: NotificationTelemetry) -> Explanation.Finding {
        if !telemetry.state.isFinal, let wave = device.wave {
            if wave.moment > now { return findingOfWait(for: wave) }
            // Others are still to come.
            if wave.isOver { return findingOfAccepted(device, telemetry) }
        }
        switch telemetry.state {
        case .scheduled: return .init(.scheduled, "The hub sends it later.", at: telemetry.dueAt)
        case .accepted, .dispatching: return Self.findingUnderWay(telemetry, for: device.binding.device.platform)
        case .completed, .cancelled, .expired, .failed: break
        }
        if let early = Self.findingOfEarlyEnd(telemetry) { return early }
        guard device.since <= send.order, device.record.map({ $0.order <= send.order }) ?? true else {
            return .init(
                .registeredMeanwhile, "The device was registered after the send had begun, and may have been left out.",
                at: device.since <= send.order ? device.record?.createdAt : device.binding.from,
                next: "Look whether the message is in the app's inbox; if it matters, send again.")
        }
        return findingOfAccepted(device, telemetry)
    }

    private func finding(ofReceipts receipts: [Receipt]) -> Explanation.Finding? {
        func first(_ kinds: Receipt.Kind...) -> Receipt? {
            receipts.filter { kinds.contains($0.kind) }.min { $0.at < $1.at }
        }
        if let acted = first(.action) {
            let name = acted.action.map { " \($0)" } ?? ""
            return .init(.acted, "The user chose the action\(name) of the notification.", at: acted.at)
        }
        if let opened = first(.opened) { return .init(.opened, "The user opened it.", at: opened.at) }
        if let dismissed = first(.dismissed) { return .init(.dismissed, "The user removed the notification.", at: dismissed.at) }
        if let failed = first(.failed) {
            return .init(
                .notShown, "The push arrived, and the app could not show the content: \(failed.action ?? "no reason given").",
                at: failed.at, next: "Look at the app's log; the user sees the plain notification.")
        }
        if let fetched = first(.fetched) { return .init(.fetched, "The device has shown it with its content.", at: fetched.at) }
        return first(.delivered).map { .init(.delivered, "The push arrived at the app.", at: $0.at) }
    }

    /// The send is over, and the hub has kept no failure of the device.
    private func findingOfAccepted(_ device: Device, _ telemetry: NotificationTelemetry) -> Explanation.Finding {
        if let held = findingOfCap(device, telemetry) { return held }
        if let unlisted = Self.findingOfUnlisted(telemetry, listsFailures: listsFailures) { return unlisted }
        if send.kind == .sealed, device.binding.device.sealingKey == nil {
            return .init(
                .noSealingKey, "The device got the push and has no key to open what was sealed.", at: telemetry.endedAt,
                next: "Let the user update the app and open it once.")
        }
        if let expiresAt = send.expiresAt, expiresAt <= now {
            return .init(
                .tooLateAtAPNs, "APNs took the push, and its time ran out: a phone that was offline until then does not get it.",
                at: expiresAt, next: "Send with a later `expiresAt`, or none.")
        }
        if let hindrance = findingOfPermission(device.binding.device.facts?.permission, telemetry) { return hindrance }
        if send.style == .silent {
            return .init(
                .acceptedSilently, "APNs took the push. It is a silent one, which iOS holds back when it likes.",
                at: telemetry.endedAt, next: "Send with the style `alert` what the user has to see.")
        }
        return .init(
            .accepted, "APNs took the push, and the device has reported nothing: it is off or offline, or the app is older.",
            at: telemetry.endedAt, next: "Nothing: APNs delivers when the phone is online, for up to 30 days.")
    }

    /// What the permission of the app makes of a push that APNs took. A silent one needs none.
    private func findingOfPermission(_ permission: String?, _ telemetry: NotificationTelemetry) -> Explanation.Finding? {
        switch permission {
        case "denied":
            return .init(
                .hidden, "APNs took the push, and the user does not allow this app to show notifications.",
                at: telemetry.endedAt, next: "The user can allow them in the phone's settings; the message is in the app's inbox."
            )
        case "notDetermined" where send.style != .silent:
            return .init(
                .neverAsked, "APNs took the push, and the app has not asked the user yet whether it may show notifications.",
                at: telemetry.endedAt, next: "Let the app ask; the message is in the app's inbox.")
        case "provisional" where send.style != .silent:
            return .init(
                .quiet, "APNs took the push. The phone puts it into Notification Center without sound or banner.",
                at: telemetry.endedAt, next: "The user decides there whether to keep these notifications prominent.")
        default: return nil
        }
    }
}
