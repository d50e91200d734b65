import RichPushModel
import WireText

/// What became of a notification (Reference/AzureNotificationHubs.md#2-9). Not an Atom entry.
public struct NotificationDetails: Hashable, Sendable {
    /// Where a notification stands. Of the states that are documented, those that break no client: Java throws at `Cancelled` and
    /// `DetailedStateAvailable`, and pollers of the JavaScript client end only at `Completed` and `Abandoned`.
    public enum State: String, Sendable, CaseIterable {
        case enqueued = "Enqueued"
        case scheduled = "Scheduled"
        case processing = "Processing"
        case completed = "Completed"
        case abandoned = "Abandoned"
        case noTargetFound = "NoTargetFound"
        case canceled = "Canceled"
        case unknown = "Unknown"

        /// Whether nothing more will happen.
        public var isFinal: Bool {
            switch self {
            case .enqueued, .scheduled, .processing, .unknown: false
            case .completed, .abandoned, .noTargetFound, .canceled: true
            }
        }
    }

    public var id: String
    /// Where the notification lies; the writer gives it the scheme `sb` as the documentation has it.
    public var location: String?
    public var state: State
    public var enqueueTime: Timestamp?
    public var startTime: Timestamp?
    public var endTime: Timestamp?
    public var body: String?
    /// The tag expression as it was sent.
    public var tags: String?
    /// `apple`, `windows`, … and for template sends `appletemplate`, …
    public var targetPlatforms: [String] = []
    public var outcomes: [OutcomeCounts] = []
    public var errorDetailsURL: String?
}

extension NotificationDetails {
    /// Creates details; everything else is set afterwards.
    public init(id: String, state: State) {
        self.id = id
        self.state = state
    }

    /// The body of the answer, elements in the order in which .NET reads them, absent ones omitted.
    public func answer() -> String {
        var writer = XMLWriter()
        writer.open("NotificationDetails", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
        writer.element("NotificationId", id)
        writer.element("Location", location.map(Self.serviceBusURL))
        writer.element("State", state.rawValue)
        writer.element("EnqueueTime", enqueueTime.map(DateText.shortest))
        writer.element("StartTime", startTime.map(DateText.shortest))
        writer.element("EndTime", endTime.map(DateText.shortest))
        writer.element("NotificationBody", body)
        writer.element("Tags", tags)
        writer.element("TargetPlatforms", targetPlatforms.isEmpty ? nil : targetPlatforms.joined(separator: ","))
        for service in OutcomeCounts.Service.allCases {
            // The address of the details stands between the older and the newer services.
            if service == .fcm { writer.element("PnsErrorDetailsUri", errorDetailsURL) }
            for counts in outcomes where counts.service == service { Self.write(counts, to: &writer) }
        }
        writer.close("NotificationDetails")
        return writer.text
    }

    private static func write(_ counts: OutcomeCounts, to writer: inout XMLWriter) {
        guard !counts.outcomes.isEmpty else { return }
        writer.open(counts.service.rawValue)
        for outcome in counts.outcomes {
            writer.open("Outcome")
            writer.element("Name", outcome.name)
            writer.element("Count", String(outcome.count))
            writer.close("Outcome")
        }
        writer.close(counts.service.rawValue)
    }

    private static func serviceBusURL(_ url: String) -> String {
        guard let colon = url.firstRange(of: "://") else { return url }
        return "sb" + url[colon.lowerBound...]
    }

    /// Reads an answer. A state that is not in the list reads as `unknown`.
    public static func read(
        _ bytes: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> NotificationDetails {
        let root = try XMLReader.root("NotificationDetails", bytes, limits: limits)
        var details = NotificationDetails(
            id: try root.required("NotificationId"), location: root.value("Location"),
            state: root.value("State").flatMap(State.init(rawValue:)) ?? .unknown)
        details.enqueueTime = try root.moment("EnqueueTime")
        details.startTime = try root.moment("StartTime")
        details.endTime = try root.moment("EndTime")
        details.body = root.child("NotificationBody")?.text
        details.tags = root.value("Tags")
        details.targetPlatforms = root.value("TargetPlatforms").map(Tag.texts) ?? []
        details.errorDetailsURL = root.value("PnsErrorDetailsUri")
        for service in OutcomeCounts.Service.allCases {
            guard let element = root.child(service.rawValue) else { continue }
            details.outcomes.append(try counts(service, element))
        }
        return details
    }

    private static func counts(
        _ service: OutcomeCounts.Service, _ element: XMLElement
    ) throws(HubDocumentError) -> OutcomeCounts {
        var counts = OutcomeCounts(service, [])
        for outcome in element.children("Outcome") {
            counts.outcomes.append(
                OutcomeCounts.Outcome(name: try outcome.required("Name"), count: try outcome.integer("Count") ?? 0))
        }
        return counts
    }
}

/// Counts of outcomes of one push service in telemetry: names of the table in Reference/AzureNotificationHubs.md#2-9, in the
/// order to be shown.
public struct OutcomeCounts: Hashable, Sendable {
    /// One outcome and how many devices had it.
    public struct Outcome: Hashable, Sendable {
        public var name: String
        public var count: Int

        public init(name: String, count: Int) {
            self.name = name
            self.count = count
        }
    }

    /// The collections that telemetry knows, in the order in which .NET reads them; the last three only Java and JS know.
    public enum Service: String, Sendable, CaseIterable {
        case apns = "ApnsOutcomeCounts"
        case mpns = "MpnsOutcomeCounts"
        case wns = "WnsOutcomeCounts"
        case gcm = "GcmOutcomeCounts"
        case adm = "AdmOutcomeCounts"
        case fcm = "FcmOutcomeCounts"
        case fcmV1 = "FcmV1OutcomeCounts"
        case baidu = "BaiduOutcomeCounts"
        case browser = "BrowserOutcomeCounts"
        case xiaomi = "XiaomiOutcomeCounts"

        /// The push service that is counted.
        public var platform: Platform {
            switch self {
            case .apns: .apns
            case .fcm: Platform(rawValue: "gcm")
            case .fcmV1: Platform(rawValue: "fcmv1")
            case .mpns, .wns, .gcm, .adm, .baidu, .browser, .xiaomi: Platform(rawValue: "\(self)")
            }
        }

        /// The collection of a push service.
        public init?(_ platform: Platform) {
            guard let match = Self.allCases.first(where: { $0.platform == platform }) else { return nil }
            self = match
        }
    }

    public var service: Service
    public var outcomes: [Outcome]

    /// Creates the counts of a service.
    public init(_ service: Service, _ outcomes: [Outcome]) {
        self.service = service
        self.outcomes = outcomes
    }
}

/// The answer to a test send: what each of at most ten devices came to (Reference/AzureNotificationHubs.md#2-10).
public struct NotificationOutcome: Hashable, Sendable {
    /// What one device came to.
    public struct Result: Hashable, Sendable {
        /// `apple`, `windows`, …
        public var platform: String
        public var handle: String
        public var registrationID: String?
        /// A sentence, free text.
        public var outcome: String

        public init(platform: String, handle: String, registrationID: String?, outcome: String) {
            self.platform = platform
            self.handle = handle
            self.registrationID = registrationID
            self.outcome = outcome
        }
    }

    public var success: Int
    public var failure: Int
    public var results: [Result]

    public init(success: Int, failure: Int, results: [Result]) {
        self.success = success
        self.failure = failure
        self.results = results
    }

    /// The body of the answer.
    public func answer() -> String {
        var writer = XMLWriter()
        writer.open("NotificationOutcome", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
        writer.element("Success", String(success))
        writer.element("Failure", String(failure))
        writer.open("Results")
        for result in results {
            writer.open("RegistrationResult")
            writer.element("ApplicationPlatform", result.platform)
            writer.element("PnsHandle", result.handle)
            writer.element("RegistrationId", result.registrationID)
            writer.element("Outcome", result.outcome)
            writer.close("RegistrationResult")
        }
        writer.close("Results")
        writer.close("NotificationOutcome")
        return writer.text
    }

    /// Reads an answer.
    public static func read(
        _ bytes: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> NotificationOutcome {
        let root = try XMLReader.root("NotificationOutcome", bytes, limits: limits)
        var outcome = NotificationOutcome(
            success: try root.integer("Success") ?? 0, failure: try root.integer("Failure") ?? 0, results: [])
        for element in root.child("Results")?.children("RegistrationResult") ?? [] {
            outcome.results.append(
                Result(
                    platform: element.value("ApplicationPlatform") ?? "", handle: element.value("PnsHandle") ?? "",
                    registrationID: element.value("RegistrationId"), outcome: element.value("Outcome") ?? ""))
        }
        return outcome
    }
}

/// The feedback of a push service on an expired or wrong device token; feedback files hold one document of this each
/// (Reference/AzureNotificationHubs.md#2-11).
public struct PnsFeedback: Hashable, Sendable {
    /// The registration or installation that had the device token.
    public enum Owner: Hashable, Sendable {
        case registration(String)
        case installation(String)
    }

    public var time: Timestamp
    /// The outcome by its name in telemetry, `ExpiredChannel` or `WrongToken`.
    public var systemError: String
    /// `apple`, `windows`, …
    public var platform: String
    public var handle: String
    public var owner: Owner?
    public var notificationID: String?
    /// A handle to use from now on, where the push service gives one.
    public var newHandle: String?

    public init(
        time: Timestamp, systemError: String, platform: String, handle: String, owner: Owner?, notificationID: String? = nil,
        newHandle: String? = nil
    ) {
        self.time = time
        self.systemError = systemError
        self.platform = platform
        self.handle = handle
        self.owner = owner
        self.notificationID = notificationID
        self.newHandle = newHandle
    }

    /// The document, on one line. It declares UTF-16 although files are UTF-8, as readers of the service's files expect: they cut them at
    /// these declarations (Reference/AzureNotificationHubs.md#2-11).
    public func document() -> String {
        var writer = XMLWriter(isSingleLine: true)
        writer.raw("<?xml version=\"1.0\" encoding=\"utf-16\"?>")
        writer.open("PnsFeedback", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
        writer.element("FeedbackTime", DateText.shortest(time))
        writer.element("NotificationSystemError", systemError)
        writer.element("Platform", platform)
        writer.element("PnsHandle", handle)
        switch owner {
        case .registration(let id): writer.element("RegistrationId", id)
        case .installation(let id): writer.element("InstallationId", id)
        case nil: break
        }
        writer.element("NotificationId", notificationID)
        writer.element("NewPnsHandle", newHandle)
        writer.close("PnsFeedback")
        return writer.text
    }

    /// Reads a file of documents that follow each other.
    public static func read(_ bytes: [UInt8], limits: XMLLimits = .feed) throws(HubDocumentError) -> [PnsFeedback] {
        let documents: [XMLElement]
        do { documents = try XMLReader.documents(bytes, limits: limits) } catch { throw .malformed(error) }
        var feedback: [PnsFeedback] = []
        for document in documents { feedback.append(try PnsFeedback(document)) }
        return feedback
    }

    private init(_ element: XMLElement) throws(HubDocumentError) {
        guard element.isNamed("PnsFeedback", in: Namespace.serviceBus) else {
            throw .unexpectedElement(element.name, expected: "PnsFeedback", element.position)
        }
        guard let time = try element.moment("FeedbackTime") else {
            throw .missing("FeedbackTime", in: "PnsFeedback", element.position)
        }
        self.init(
            time: time, systemError: try element.required("NotificationSystemError"), platform: try element.required("Platform"),
            handle: try element.required("PnsHandle"),
            owner: element.value("InstallationId").map(Owner.installation)
                ?? element.value("RegistrationId").map(Owner.registration),
            notificationID: element.value("NotificationId"), newHandle: element.value("NewPnsHandle"))
    }
}
