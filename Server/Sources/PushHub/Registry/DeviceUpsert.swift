import RichPushModel

/// A request to create a record or to replace what a record says.
public struct DeviceUpsert: Hashable, Sendable {
    public var id: RecordID
    public var kind: DeviceRecord.Kind
    public var platform: Platform
    public var handle: DeviceHandle?
    public var environment: String?
    public var topic: String?
    public var tags: [Tag]
    public var userID: String?
    public var expiresAt: Timestamp?
    /// Whether every other record with the same platform and handle goes in the same transaction (the rich push tutorial's
    /// `PUT`).
    public var replacesSameHandle: Bool
    /// What template sends fill in; absent for a native registration.
    public var template: DeviceTemplate?
    public var pushVariables: [String: String]
    /// Extras of the platform by their wire names.
    public var details: [String: String]
    /// Whether the hub's time to live counts when there is no expiry: so it does for what comes by the hub protocol.
    public var expiresByDefault: Bool
    /// What has to be so for the change to be made.
    public var precondition: DevicePrecondition

    /// Creates a request.
    public init(
        id: RecordID, kind: DeviceRecord.Kind, platform: Platform = .apns, handle: DeviceHandle?, environment: String? = nil,
        topic: String? = nil, tags: [Tag] = [], userID: String? = nil, expiresAt: Timestamp? = nil,
        replacesSameHandle: Bool = false, template: DeviceTemplate? = nil, pushVariables: [String: String] = [:],
        details: [String: String] = [:], expiresByDefault: Bool = false, precondition: DevicePrecondition = .none
    ) {
        self.id = id
        self.kind = kind
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.tags = tags
        self.userID = userID
        self.expiresAt = expiresAt
        self.replacesSameHandle = replacesSameHandle
        self.template = template
        self.pushVariables = pushVariables
        self.details = details
        self.expiresByDefault = expiresByDefault
        self.precondition = precondition
    }
}
