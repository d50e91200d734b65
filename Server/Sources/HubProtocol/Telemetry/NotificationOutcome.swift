import WireText

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

        /// Creates a result.
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

    /// Creates an outcome.
    public init(success: Int, failure: Int, results: [Result]) {
        self.success = success
        self.failure = failure
        self.results = results
    }
}

extension NotificationOutcome {
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
