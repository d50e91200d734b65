import AuditTrail
import PushHub
import RichPushModel

/// A receiver of events, which an administrator named by its address.
public struct Webhook: Hashable, Sendable {
    /// Whether events are delivered; the raw value is stored.
    public enum State: String, Sendable {
        case enabled, disabled
    }

    public var id: Int64
    public var draft: WebhookDraft
    public var state: State
    /// Why the server disabled it; `nil` when an administrator did, and while it is enabled.
    public var fault: String?
    /// From which its secret is derived.
    public var salt: [UInt8]
    /// The salt before that, with which requests are signed too until a moment.
    public var formerSalt: FormerSalt?
    public var createdAt: Timestamp

    /// A salt that still holds for a while.
    public struct FormerSalt: Hashable, Sendable {
        public var salt: [UInt8]
        public var until: Timestamp

        /// Creates a value.
        public init(salt: [UInt8], until: Timestamp) {
            self.salt = salt
            self.until = until
        }
    }

    /// Takes a webhook from storage.
    public init(
        id: Int64, draft: WebhookDraft, state: State, fault: String?, salt: [UInt8], formerSalt: FormerSalt?, createdAt: Timestamp
    ) {
        self.id = id
        self.draft = draft
        self.state = state
        self.fault = fault
        self.salt = salt
        self.formerSalt = formerSalt
        self.createdAt = createdAt
    }
}

/// What an administrator says of a webhook.
public struct WebhookDraft: Hashable, Sendable {
    /// `https`, or `http` to an address that the operator allows.
    public var url: String
    /// What it gets; sorted, without repetitions.
    public var events: [WebhookEvent.Kind]
    /// For lists.
    public var description: String

    /// Creates a draft.
    public init(url: String, events: [WebhookEvent.Kind], description: String) {
        self.url = url
        self.events = events
        self.description = description
    }
}

/// Something that happened, as it is stored for each webhook that wants it.
public struct WebhookEvent: Hashable, Sendable {
    /// The types; the raw value is what a receiver reads.
    public enum Kind: String, Sendable, CaseIterable {
        case sendAccepted = "send.accepted"
        case sendEnded = "send.ended"
        case sendOutcomes = "send.outcomes"
        case sendRecalled = "send.recalled"
        case scheduleProposed = "schedule.proposed"
        case scheduleEnded = "schedule.ended"
        case deviceSignedIn = "device.signed_in"
        case deviceSignedOut = "device.signed_out"
        case deviceTaken = "device.taken"
        case receiptsRecorded = "receipts.recorded"
        case ping = "webhook.ping"
    }

    /// The same in every attempt and for every webhook: the receiver's key against repetitions.
    public var id: String
    public var kind: Kind
    /// Events with the same subject are delivered one after the other, in their order.
    public var subject: String
    /// The user whom it names, if any.
    public var user: String?
    public var at: Timestamp
    public var data: WebhookData

    /// Creates an event. `cause` is the id of what brought it about, drawn before the transaction that stores both.
    public init(cause: String, _ kind: Kind, subject: String, user: String? = nil, at: Timestamp, data: WebhookData) {
        self.init(id: "evt_\(cause)", kind, subject: subject, user: user, at: at, data: data)
    }

    /// Takes an event from storage.
    public init(id: String, _ kind: Kind, subject: String, user: String?, at: Timestamp, data: WebhookData) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.user = user
        self.at = at
        self.data = data
    }
}

/// The `data` of an event, as it is stored and sent: ids, counts and states, no words and no content.
public struct WebhookData: Hashable, Sendable, StoredAsText {
    /// One receipt of an installation.
    public struct Receipt: Hashable, Sendable, Codable {
        public var send: String
        public var kind: String
        public var action: String?
        /// Milliseconds since 1970, by the clock of the device.
        public var at: Timestamp

        /// Creates a value.
        public init(send: String, kind: String, action: String?, at: Timestamp) {
            self.send = send
            self.kind = kind
            self.action = action
            self.at = at
        }
    }

    /// Installations that ended alike.
    public struct Outcome: Hashable, Sendable, Codable {
        public var outcome: String
        public var reason: String?
        public var installations: [String]

        /// Creates a value.
        public init(outcome: String, reason: String?, installations: [String]) {
            self.outcome = outcome
            self.reason = reason
            self.installations = installations
        }
    }

    public var send: String?
    public var schedule: String?
    public var state: String?
    /// How many devices a send was for.
    public var targets: Int?
    /// How many of them ended with which outcome.
    public var outcomes: [String: Int]?
    public var user: String?
    public var installation: String?
    public var reason: String?
    public var receipts: [Receipt]?
    /// What became of up to 500 devices of a send.
    public var devices: [Outcome]?

    /// Creates data without a field.
    public init() {}
}

extension WebhookEvent {
    /// What became of devices of a send. The id is the same each time that the report is read.
    init(_ report: OutcomeReport, of send: RichID, trackingID: NotificationID) {
        var data = WebhookData()
        data.send = "\(send)"
        data.devices = report.groups.map {
            WebhookData.Outcome(outcome: $0.outcome.rawValue, reason: $0.reason, installations: $0.devices.map(\.text))
        }
        self.init(
            cause: "\(trackingID.text)-\(report.number)", .sendOutcomes, subject: "send \(send)", at: report.notedAt, data: data)
    }

    /// What a webhook says of an act that the audit records; `nil` for acts that are the audit's alone.
    public init?(_ entry: AuditEntry) {
        guard let kind = Self.kinds[entry.action] else { return nil }
        var data = WebhookData()
        let details = Self.fields(of: entry.details)
        switch kind {
        case .deviceSignedIn, .deviceSignedOut, .deviceTaken:
            guard let installation = details["installation"] else { return nil }
            (data.installation, data.user, data.reason) = (installation, entry.subject.content?.text, details["reason"])
        case .scheduleProposed:
            guard details["state"] == "proposed" else { return nil }
            data.schedule = entry.object
        case .scheduleEnded:
            (data.schedule, data.state) = (entry.object, details["state"])
        default:
            data.send = entry.object
            guard kind == .sendEnded else { break }
            (data.state, data.targets) = (details["state"], details["targets"].flatMap { Int($0) })
            let counts = details.filter { !["state", "targets"].contains($0.key) }.compactMapValues { Int($0) }
            data.outcomes = counts.isEmpty ? nil : counts
        }
        let subject = data.installation ?? data.schedule.map { "schedule \($0)" } ?? "send \(entry.object)"
        self.init(cause: entry.id, kind, subject: subject, user: data.user, at: entry.at, data: data)
    }

    private static let kinds: [AuditAction: Kind] = [
        .sendAccepted: .sendAccepted, .sendEnded: .sendEnded, .sendRecalled: .sendRecalled, .scheduleEnded: .scheduleEnded,
        .scheduleCreated: .scheduleProposed, .scheduleChanged: .scheduleProposed,
        .signedIn: .deviceSignedIn, .signedOut: .deviceSignedOut, .deviceTaken: .deviceTaken,
    ]

    /// The details of an entry are `name=value` with blanks between.
    private static func fields(of details: AuditText) -> [String: String] {
        let words = details.content?.text.split(separator: " ") ?? []
        let pairs = words.compactMap { word -> (String, String)? in
            let parts = word.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }
}

/// An event for one webhook, and what became of it.
public struct WebhookDelivery: Hashable, Sendable {
    /// Where it stands; the raw value is stored.
    public enum State: String, Sendable, CaseIterable {
        case waiting, delivered, failed
    }

    /// Its place among all deliveries.
    public var number: Int64
    public var event: WebhookEvent
    public var state: State
    /// When it is tried next; `nil` unless it waits.
    public var dueAt: Timestamp?
    /// How many attempts there were since it was queued, or queued again by a replay.
    public var attempts: Int
    public var last: Answer?

    /// What the last attempt brought.
    public struct Answer: Hashable, Sendable {
        public var at: Timestamp
        /// The status of the answer; `nil` without one.
        public var status: Int?
        /// How long the attempt took.
        public var milliseconds: Int64
        /// Why there was no answer, or the beginning of one that was no success.
        public var text: String?

        /// Creates a value.
        public init(at: Timestamp, status: Int?, milliseconds: Int64, text: String?) {
            self.at = at
            self.status = status
            self.milliseconds = milliseconds
            self.text = text
        }
    }

    /// Takes a delivery from storage.
    public init(
        number: Int64, event: WebhookEvent, state: State, dueAt: Timestamp?, attempts: Int, last: Answer?
    ) {
        self.number = number
        self.event = event
        self.state = state
        self.dueAt = dueAt
        self.attempts = attempts
        self.last = last
    }
}
