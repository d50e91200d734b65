import WireText

/// The template of a registration, every part as the client wrote it.
public struct RegistrationTemplate: Hashable, Sendable {
    /// A header that the template adds to each push.
    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String

        /// Creates a header.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public var body: String
    /// `TemplateName`.
    public var name: String?
    /// `ApnsHeaders`, `WnsHeaders` or `MpnsHeaders`, in order; other platforms have none.
    public var headers: [Header]
    /// Apple's `Expiry`: an expression, a date or 0.
    public var expiry: String?
    /// Apple's `Priority`: an expression or a number.
    public var priority: String?
    /// Baidu's `MessageType`.
    public var messageType: String?

    /// Creates a template.
    public init(
        body: String, name: String? = nil, headers: [Header] = [], expiry: String? = nil, priority: String? = nil,
        messageType: String? = nil
    ) {
        self.body = body
        self.name = name
        self.headers = headers
        self.expiry = expiry
        self.priority = priority
        self.messageType = messageType
    }
}

extension RegistrationTemplate {
    /// The parts of a template in the order in which .NET reads them (Reference/AzureNotificationHubs.md#2-1).
    enum Part { case body, expiry, name, priority, messageType, headers(collection: String) }

    static func parts(of platform: RegistrationPlatform) -> [Part] {
        switch platform {
        case .apple: [.body, .expiry, .name, .priority, .headers(collection: "ApnsHeaders")]
        case .windows: [.body, .headers(collection: "WnsHeaders"), .name]
        case .mpns: [.body, .headers(collection: "MpnsHeaders"), .name]
        case .baidu: [.body, .name, .messageType]
        case .gcm, .fcm, .fcmV1, .adm, .browser, .xiaomi: [.body, .name]
        }
    }

    /// Reads the template of a description.
    init(_ element: XMLElement, _ platform: RegistrationPlatform) throws(HubDocumentError) {
        self.init(body: try element.required("BodyTemplate"), name: element.value("TemplateName"))
        for part in Self.parts(of: platform) {
            switch part {
            case .body, .name: break
            case .expiry: expiry = element.value("Expiry")
            case .priority: priority = element.value("Priority")
            case .messageType: messageType = element.value("MessageType")
            case .headers(let collection): headers = try Self.headers(collection, in: element)
            }
        }
    }

    private static func headers(_ collection: String, in element: XMLElement) throws(HubDocumentError) -> [Header] {
        var headers: [Header] = []
        guard let list = element.child(collection) else { return headers }
        for header in list.children(String(collection.dropLast())) {
            headers.append(Header(name: try header.required("Header"), value: header.value("Value") ?? ""))
        }
        return headers
    }

    /// Writes the template's elements.
    func write(to writer: inout XMLWriter, _ platform: RegistrationPlatform, omitsSingleHeader: Bool) {
        for part in Self.parts(of: platform) {
            switch part {
            case .body: writer.literal("BodyTemplate", body)
            case .name: writer.element("TemplateName", name)
            case .expiry: writer.element("Expiry", expiry)
            case .priority: writer.element("Priority", priority)
            case .messageType: writer.element("MessageType", messageType)
            case .headers(let collection): write(collection, to: &writer, omitsSingleHeader)
            }
        }
    }

    private func write(_ collection: String, to writer: inout XMLWriter, _ omitsSingleHeader: Bool) {
        guard !headers.isEmpty, !(omitsSingleHeader && headers.count == 1) else { return }
        let item = String(collection.dropLast())
        writer.open(collection)
        for header in headers {
            writer.open(item)
            writer.element("Header", header.name)
            writer.element("Value", header.value)
            writer.close(item)
        }
        writer.close(collection)
    }
}
