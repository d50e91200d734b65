#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push as the client sends it.
public struct APNsPush: Sendable {
    /// The headers that many pushes share (APNs reference 3.2). Equal values are encoded once per connection.
    public struct Headers: Hashable, Sendable {
        public var topic: String
        public var pushType: APNsPushType
        /// 10, 5 or 1; absent leaves the header out.
        public var priority: Int?
        /// Seconds since 1970. Absent leaves the header out, which is not the same as 0.
        public var expiration: Int64?
        public var collapseID: String?

        /// Creates a header set.
        public init(
            topic: String, pushType: APNsPushType, priority: Int? = nil, expiration: Int64? = nil, collapseID: String? = nil
        ) {
            self.topic = topic
            self.pushType = pushType
            self.priority = priority
            self.expiration = expiration
            self.collapseID = collapseID
        }
    }

    /// The device token: an even number of hexadecimal digits.
    public var deviceToken: String
    public var headers: Headers
    /// The JSON body, shared between pushes without copying.
    public var payload: [UInt8]
    /// The `apns-id`; absent lets APNs make one.
    public var apnsID: UUID?
    /// What is known of the device token; never sent.
    public var standing: Standing

    /// Creates a push.
    public init(
        deviceToken: String, headers: Headers, payload: [UInt8], apnsID: UUID? = nil, standing: Standing = .ordinary
    ) {
        self.deviceToken = deviceToken
        self.headers = headers
        self.payload = payload
        self.apnsID = apnsID
        self.standing = standing
    }
}
