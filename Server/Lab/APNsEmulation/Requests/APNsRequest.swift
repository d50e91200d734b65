/// One request as it came off the wire, before anybody judged it.
struct APNsRequest: Sendable {
    /// The headers that APNs looks at, taken out in one pass.
    struct Head: Sendable {
        var method = ""
        var path = ""
        var authorization: String?
        var apnsID: String?
        var expiration: String?
        var priority: String?
        var collapseID: String?
        var pushType: String?
        var topic: String?
        var channelID: String?
        var requestID: String?
        /// Whether an `apns-…` header or `authorization` came twice.
        var hasDuplicates = false
        /// Every field but the pseudo fields and `authorization`, for the record.
        var fields: [APNsExchange.Field] = []

        /// Takes in one field.
        mutating func add(name: String, value: String) {
            switch name {
            case ":method": method = value
            case ":path": path = value
            case "authorization": set(\.authorization, value)
            case "apns-id": set(\.apnsID, value)
            case "apns-expiration": set(\.expiration, value)
            case "apns-priority": set(\.priority, value)
            case "apns-collapse-id": set(\.collapseID, value)
            case "apns-push-type": set(\.pushType, value)
            case "apns-topic": set(\.topic, value)
            case "apns-channel-id": set(\.channelID, value)
            case "apns-request-id": set(\.requestID, value)
            default:
                if name.hasPrefix("apns-"), fields.contains(where: { $0.name == name }) { hasDuplicates = true }
            }
            if !name.hasPrefix(":"), name != "authorization" { fields.append(.init(name: name, value: value)) }
        }

        /// The first value counts.
        private mutating func set(_ field: WritableKeyPath<Head, String?>, _ value: String) {
            if self[keyPath: field] == nil { self[keyPath: field] = value } else { hasDuplicates = true }
        }
    }

    /// More of a body is counted, not kept.
    static let keptBody = 8_192

    var head: Head
    /// The body, cut at `keptBody`.
    var body: [UInt8]
    /// How long the body was.
    var bodySize: Int
    var connection: Int
    var stream: Int
    /// The door that it came through.
    var service: APNsService

    init(
        head: Head, body: [UInt8] = [], bodySize: Int? = nil, connection: Int = 0, stream: Int = 1,
        service: APNsService = .provider
    ) {
        self.head = head
        self.service = service
        self.body = body
        self.bodySize = bodySize ?? body.count
        self.connection = connection
        self.stream = stream
    }
}
