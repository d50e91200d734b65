import RichPushModel

/// Pushes that leave together: the bodies and header sets they share, and who gets which.
public struct PushBatch: Sendable {
    /// Headers that many targets share.
    public struct Headers: Hashable, Sendable {
        public var pushType: String
        public var priority: Int
        /// Seconds since 1970; absent means no `apns-expiration` header, which is not the same as 0.
        public var expiration: Int64?
        public var collapseID: String?
        /// Absent means the transport's default topic.
        public var topic: String?

        /// Creates a header set.
        public init(pushType: String, priority: Int, expiration: Int64? = nil, collapseID: String? = nil, topic: String? = nil) {
            self.pushType = pushType
            self.priority = priority
            self.expiration = expiration
            self.collapseID = collapseID
            self.topic = topic
        }
    }

    /// One push.
    public struct Target: Hashable, Sendable {
        public var handle: DeviceHandle
        /// `sandbox` or `production`; absent means the hub's default.
        public var environment: String?
        /// Index into `bodies`.
        public var body: Int
        /// Index into `headers`.
        public var headers: Int
        /// The `apns-id`: the same for every repeat of the same target.
        public var pushID: PushID

        /// Creates a target.
        public init(handle: DeviceHandle, environment: String? = nil, body: Int = 0, headers: Int = 0, pushID: PushID) {
            self.handle = handle
            self.environment = environment
            self.body = body
            self.headers = headers
            self.pushID = pushID
        }
    }

    public var hub: HubID
    public var bodies: [[UInt8]]
    public var headers: [Headers]
    public var targets: PushTargets
    /// Somebody waits for these few pushes: they overtake larger batches that wait in the transport.
    public var isExpress: Bool
    /// When the send was due, for metrics; absent where it is not measured.
    public var dueAt: Timestamp?

    /// Creates a batch.
    public init(hub: HubID, bodies: [[UInt8]], headers: [Headers], targets: [Target], isExpress: Bool = false) {
        self.init(hub: hub, bodies: bodies, headers: headers, targets: PushTargets(targets), isExpress: isExpress)
    }

    init(hub: HubID, bodies: [[UInt8]], headers: [Headers], targets: PushTargets, isExpress: Bool = false) {
        self.hub = hub
        self.bodies = bodies
        self.headers = headers
        self.targets = targets
        self.isExpress = isExpress
    }
}
