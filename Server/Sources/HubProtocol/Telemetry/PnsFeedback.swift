import RichPushModel
import WireText

/// What a push service said of a handle that is expired or wrong; feedback files hold one document of this each
/// (Reference/AzureNotificationHubs.md#2-11).
public struct PnsFeedback: Hashable, Sendable {
    /// Whose handle it was.
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

    /// Creates feedback.
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
}

extension PnsFeedback {
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
