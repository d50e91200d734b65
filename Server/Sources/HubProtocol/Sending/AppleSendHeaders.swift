import RichPushModel

/// What a send says about its delivery by APNs (Reference/AzureNotificationHubs.md#2-7, Reference/APNs.md#3): the headers that
/// are passed through.
public struct AppleSendHeaders: Hashable, Sendable {
    /// When APNs may give up.
    public enum Expiry: Hashable, Sendable {
        /// One try, now: `apns-expiration` 0.
        case immediately
        case at(Timestamp)
    }

    /// `apns-push-type`.
    public var pushType: String?
    /// `apns-priority`: 10, 5 or 1; the hub checks it against the push type.
    public var priority: Int?
    /// `apns-topic`.
    public var topic: String?
    /// `apns-collapse-id`.
    public var collapseID: String?
    /// `apns-expiration`.
    public var expiry: Expiry?
    /// `apns-id`, a UUID.
    public var id: String?

    /// Creates a set of headers.
    public init(
        pushType: String? = nil, priority: Int? = nil, topic: String? = nil, collapseID: String? = nil, expiry: Expiry? = nil,
        id: String? = nil
    ) {
        self.pushType = pushType
        self.priority = priority
        self.topic = topic
        self.collapseID = collapseID
        self.expiry = expiry
        self.id = id
    }

    /// The headers as this product's client sends them, which is as the JavaScript client does.
    public var fields: [HeaderField] {
        var fields: [HeaderField] = []
        if let pushType { fields.append(HeaderField("apns-push-type", pushType)) }
        if let priority { fields.append(HeaderField("apns-priority", String(priority))) }
        if let topic { fields.append(HeaderField("apns-topic", topic)) }
        if let collapseID { fields.append(HeaderField("apns-collapse-id", collapseID)) }
        switch expiry {
        case .immediately: fields.append(HeaderField("apns-expiration", "0"))
        case .at(let moment): fields.append(HeaderField("apns-expiration", String(moment.seconds)))
        case nil: break
        }
        if let id { fields.append(HeaderField("apns-id", id)) }
        return fields
    }
}
