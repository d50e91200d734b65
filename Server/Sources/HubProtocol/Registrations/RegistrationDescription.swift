import RichPushModel

/// A registration as the protocol describes it, of any platform, native or template (Reference/AzureNotificationHubs.md#2-1).
///
/// A value of the wire: tags and handles are as the client wrote them. Whether they are allowed, the hub decides.
public struct RegistrationDescription: Hashable, Sendable {
    /// The type that was registered; it is the type that comes back.
    public var platform: RegistrationPlatform
    /// The device handle.
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

    /// Creates a description.
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
}
