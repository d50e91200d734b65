#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push as the client sends it.
public struct APNsPush: Sendable {
    /// The headers that many pushes share (APNs reference 3.2). Equal values are encoded once per connection.
    ///
    /// One reference, so that a push of a fan-out costs one to copy, and the headers of two are compared by it first.
    public struct Headers: Sendable {
        private struct Fields: Hashable {
            var topic: String
            var pushType: APNsPushType
            var priority: Int?
            var expiration: Int64?
            var collapseID: String?
        }

        private final class Storage: Sendable {
            let fields: Fields
            init(_ fields: Fields) { self.fields = fields }
        }

        private var storage: Storage

        /// Creates a header set.
        public init(
            topic: String, pushType: APNsPushType, priority: Int? = nil, expiration: Int64? = nil, collapseID: String? = nil
        ) {
            storage = Storage(
                Fields(topic: topic, pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID))
        }

        public var topic: String {
            get { storage.fields.topic }
            set { change { $0.topic = newValue } }
        }

        public var pushType: APNsPushType {
            get { storage.fields.pushType }
            set { change { $0.pushType = newValue } }
        }

        /// 10, 5 or 1; absent leaves the header out.
        public var priority: Int? {
            get { storage.fields.priority }
            set { change { $0.priority = newValue } }
        }

        /// Seconds since 1970. Absent leaves the header out, which is not the same as 0.
        public var expiration: Int64? {
            get { storage.fields.expiration }
            set { change { $0.expiration = newValue } }
        }

        public var collapseID: String? {
            get { storage.fields.collapseID }
            set { change { $0.collapseID = newValue } }
        }

        private mutating func change(_ body: (inout Fields) -> Void) {
            var fields = storage.fields
            body(&fields)
            storage = Storage(fields)
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

extension APNsPush.Headers: Hashable {
    public static func == (left: APNsPush.Headers, right: APNsPush.Headers) -> Bool {
        left.storage === right.storage || left.storage.fields == right.storage.fields
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(storage.fields) }
}
