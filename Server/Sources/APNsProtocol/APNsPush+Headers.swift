extension APNsPush {
    /// The headers that many pushes share (Reference/APNs.md#3-2). Equal values are encoded once per connection.
    ///
    /// The fields lie behind one reference. Every push of a broadcast has a copy of them, and to count one reference for each costs less
    /// than one for each of the texts.
    public struct Headers: Sendable {
        private final class Fields: Sendable {
            let topic: String
            let pushType: APNsPushType
            let priority: Int?
            let expiration: Int64?
            let collapseID: String?

            init(topic: String, pushType: APNsPushType, priority: Int?, expiration: Int64?, collapseID: String?) {
                self.topic = topic
                self.pushType = pushType
                self.priority = priority
                self.expiration = expiration
                self.collapseID = collapseID
            }
        }

        private var fields: Fields

        /// Creates a header set.
        public init(
            topic: String, pushType: APNsPushType, priority: Int? = nil, expiration: Int64? = nil, collapseID: String? = nil
        ) {
            fields = Fields(
                topic: topic, pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID)
        }

        public var topic: String {
            get { fields.topic }
            set { self = with(topic: newValue) }
        }

        public var pushType: APNsPushType {
            get { fields.pushType }
            set { self = with(pushType: newValue) }
        }

        /// 10, 5 or 1; absent leaves the header out.
        public var priority: Int? {
            get { fields.priority }
            set { self = with(priority: newValue) }
        }

        /// Seconds since 1970. Absent leaves the header out, which is not the same as 0.
        public var expiration: Int64? {
            get { fields.expiration }
            set { self = with(expiration: newValue) }
        }

        public var collapseID: String? {
            get { fields.collapseID }
            set { self = with(collapseID: newValue) }
        }

        /// Whether the other is a copy of this one, or this of it: then they are equal. Two that are made apart may be equal as well.
        @inline(__always)
        package func isCopy(of other: Headers) -> Bool { fields === other.fields }

        private func with(
            topic: String? = nil, pushType: APNsPushType? = nil, priority: Int?? = nil, expiration: Int64?? = nil,
            collapseID: String?? = nil
        ) -> Headers {
            Headers(
                topic: topic ?? fields.topic, pushType: pushType ?? fields.pushType, priority: priority ?? fields.priority,
                expiration: expiration ?? fields.expiration, collapseID: collapseID ?? fields.collapseID)
        }
    }
}

extension APNsPush.Headers: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.isCopy(of: right)
            || left.topic == right.topic && left.pushType == right.pushType && left.priority == right.priority
                && left.expiration == right.expiration && left.collapseID == right.collapseID
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(topic)
        hasher.combine(pushType)
        hasher.combine(priority)
        hasher.combine(expiration)
        hasher.combine(collapseID)
    }
}
