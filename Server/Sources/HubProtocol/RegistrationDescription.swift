import RichPushModel
import WireText

/// A registration as the protocol describes it, of any platform, native or template (Reference/AzureNotificationHubs.md#2-1).
///
/// A value of the wire: tags and handles are as the client wrote them. Whether they are allowed, the hub decides.
public struct RegistrationDescription: Hashable, Sendable {
    /// The type that was registered; it is the type that comes back.
    public var platform: RegistrationPlatform
    /// The device token.
    public var handle: String
    /// The platform's further elements by name: `SecondaryTileName`, `BaiduChannelId`, `P256DH`, `Auth`.
    public var details: [String: String]
    /// `nil` for a native registration.
    public var template: RegistrationTemplate?
    public var registrationID: String?
    /// The entity tag: a small integer as text.
    public var etag: String?
    /// `nil` is never.
    public var expirationTime: Timestamp?
    public var tags: [String]
    /// A JSON object as text.
    public var pushVariables: String?

    public init(
        _ platform: RegistrationPlatform, handle: String, details: [String: String] = [:], template: RegistrationTemplate? = nil,
        registrationID: String? = nil, etag: String? = nil, expirationTime: Timestamp? = nil, tags: [String] = [],
        pushVariables: String? = nil
    ) {
        self.platform = platform
        self.handle = handle
        self.details = details
        self.template = template
        self.registrationID = registrationID
        self.etag = etag
        self.expirationTime = expirationTime
        self.tags = tags
        self.pushVariables = pushVariables
    }

    /// The name of the type, `AppleTemplateRegistrationDescription`.
    public var typeName: String { platform.elementName(isTemplate: template != nil) }

    /// Reads the entry of a request or an answer, in every form that clients send (Reference/AzureNotificationHubs.md#2-1):
    /// elements in any order and with any prefix, the element named after the type or a `RegistrationDescription` with `i:type`,
    /// values null or empty.
    public static func read(
        entry bytes: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> RegistrationDescription {
        try RegistrationDescription(try AtomContent.entry(bytes, limits: limits).element)
    }

    /// Reads the feed of a list.
    public static func read(
        feed bytes: [UInt8], limits: XMLLimits = .feed
    ) throws(HubDocumentError) -> [RegistrationDescription] {
        var descriptions: [RegistrationDescription] = []
        for content in try AtomContent.feed(bytes, limits: limits) {
            descriptions.append(try RegistrationDescription(content.element))
        }
        return descriptions
    }

    /// Reads a description from its element.
    init(_ element: XMLElement) throws(HubDocumentError) {
        let typeName = element.name == "RegistrationDescription" ? element.instanceType ?? element.name : element.name
        guard element.isNamed(element.name, in: Namespace.serviceBus), let type = RegistrationPlatform.read(typeName) else {
            throw .unknownRegistrationType(typeName, element.position)
        }
        self.init(type.platform, handle: "")
        handle = try element.required(type.platform.handleElement)
        for name in type.platform.detailElements { details[name] = element.value(name) }
        if type.isTemplate { template = try RegistrationTemplate(element, type.platform) }
        registrationID = element.value("RegistrationId")
        etag = element.value("ETag")
        expirationTime = try DateText.expiry("ExpirationTime", in: element)
        tags = element.value("Tags").map(Tag.texts) ?? []
        pushVariables = element.value("PushVariables")
    }

    /// The two forms of the element.
    enum Form {
        /// Named after the type: answers, and requests of all clients but one.
        case named
        /// `RegistrationDescription` with `i:type`: lines of export files. In answers it breaks Go, JS and PHP
        /// (Reference/AzureNotificationHubs.md#0-4).
        case typed
    }

    /// The body of a request that creates or replaces this registration.
    public func request() -> String {
        var writer = XMLWriter()
        AtomEnvelope.request(to: &writer) { write(to: &$0, form: .named, omitsSingleHeader: false, isRequest: true) }
        return writer.text
    }

    /// Writes the element.
    ///
    /// - Parameter omitsSingleHeader: leaves out a collection of exactly one header, at which the JavaScript client throws
    ///   (Reference/AzureNotificationHubs.md#2-1).
    /// - Parameter isRequest: leaves out what only the hub knows: entity tag and expiry.
    func write(to writer: inout XMLWriter, form: Form, omitsSingleHeader: Bool, isRequest: Bool = false) {
        let name = form == .named ? typeName : "RegistrationDescription"
        switch form {
        case .named:
            writer.raw("<")
            writer.raw(name)
            writer.raw(Self.declarations)
        case .typed:
            writer.open(name, ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance, "i:type": typeName])
        }
        if !isRequest {
            writer.element("ETag", etag)
            writer.element("ExpirationTime", DateText.expiry(expirationTime))
        }
        writer.element("RegistrationId", registrationID)
        writer.element("Tags", tags.isEmpty ? nil : tags.joined(separator: ","))
        writer.element("PushVariables", pushVariables)
        writer.element(platform.handleElement, handle.isEmpty ? nil : handle)
        for detail in platform.detailElements { writer.element(detail, details[detail]) }
        template?.write(to: &writer, platform, omitsSingleHeader: omitsSingleHeader)
        writer.close(name)
    }

    private static let declarations = " xmlns=\"\(Namespace.serviceBus)\" xmlns:i=\"\(Namespace.schemaInstance)\">"
}

/// A stored registration with what Atom says of it: the answer to create, upsert, update and get
/// (Reference/AzureNotificationHubs.md#2-1).
public struct RegistrationEntry: Hashable, Sendable {
    public var description: RegistrationDescription
    public var published: Timestamp
    public var updated: Timestamp

    /// Creates an entry. The description needs its id and its entity tag.
    public init(_ description: RegistrationDescription, published: Timestamp, updated: Timestamp) {
        self.description = description
        self.published = published
        self.updated = updated
    }

    /// The body of the answer.
    ///
    /// - Parameter omitsSingleHeader: leaves out a collection of exactly one header, at which the JavaScript client throws
    ///   (Reference/AzureNotificationHubs.md#2-1). A server that can recognise that client may pass `false` for those.
    public func answer(at location: LocationHeader, omitsSingleHeader: Bool = true) -> String {
        var writer = XMLWriter()
        write(to: &writer, at: location, inFeed: false, omitsSingleHeader)
        return writer.text
    }

    /// The body of a list: a feed of entries (Reference/AzureNotificationHubs.md#2-5).
    ///
    /// - Parameter selfURL: where the list itself lies if that is another place than the entries', as with lists by tag.
    public static func feed(
        _ entries: [RegistrationEntry], at location: LocationHeader, selfURL: String? = nil, updated: Timestamp,
        omitsSingleHeader: Bool = true
    ) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "Registrations", url: selfURL ?? location.collection, updated: updated, to: &writer) { writer in
            for entry in entries { entry.write(to: &writer, at: location, inFeed: true, omitsSingleHeader) }
        }
        return writer.text
    }

    private func write(to writer: inout XMLWriter, at location: LocationHeader, inFeed: Bool, _ omitsSingleHeader: Bool) {
        let id = description.registrationID ?? ""
        let envelope = AtomEnvelope(
            url: location.member(id), title: id, published: published, updated: updated, tag: description.etag)
        envelope.write(to: &writer, inFeed: inFeed) {
            description.write(to: &$0, form: .named, omitsSingleHeader: omitsSingleHeader)
        }
    }
}

/// The lines of import and export files: one serialized description each, in UTF-8 (Reference/AzureNotificationHubs.md#2-12).
public enum RegistrationLines {
    /// The line of a registration, with its line end. Nothing is left out, so that what was exported can be imported.
    public static func line(_ description: RegistrationDescription) -> String {
        var writer = XMLWriter(isSingleLine: true)
        description.write(to: &writer, form: .typed, omitsSingleHeader: false)
        return writer.text + "\n"
    }

    /// The line that names a registration and nothing else, with its line end: what is left to say of one that was removed.
    public static func line(naming id: String) -> String {
        var writer = XMLWriter(isSingleLine: true)
        writer.open("RegistrationDescription", ["xmlns": Namespace.serviceBus])
        writer.element("RegistrationId", id)
        writer.close("RegistrationDescription")
        return writer.text + "\n"
    }

    /// The same line with a remark behind it, which readers of lines pass over; with its line end. Only the remark, when the line
    /// is not given.
    public static func line(_ line: [UInt8]?, remark: String) -> String {
        // A comment holds no two hyphens, and no line end if it is to stay on the line.
        var words = ""
        for character in remark {
            words.append(character.isNewline || (character == "-" && words.last == "-") ? " " : character)
        }
        let comment = "<!-- \(words) -->\n"
        return line.map { String(decoding: $0, as: UTF8.self) + " " + comment } ?? comment
    }

    /// Reads a line.
    public static func read(
        _ line: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> RegistrationDescription {
        try RegistrationDescription(try XMLReader.root(line, limits: limits))
    }

    /// Reads the id in a line of any type, complete or not: all that a removal needs.
    public static func readID(_ line: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> String {
        let root = try XMLReader.root(line, limits: limits)
        guard root.name.hasSuffix("RegistrationDescription") else {
            throw .unexpectedElement(root.name, expected: "RegistrationDescription", root.position)
        }
        return try root.required("RegistrationId")
    }
}
