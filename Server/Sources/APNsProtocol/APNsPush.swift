#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push as the client sends it.
public struct APNsPush: Sendable {
    /// The device token: an even number of hexadecimal digits.
    public var token: APNsDeviceToken
    public var headers: Headers
    /// The JSON body, shared between pushes without copying.
    public var payload: [UInt8]
    /// The `apns-id`; absent lets APNs make one.
    public var apnsID: UUID?
    /// What is known of the device token; never sent.
    public var standing: Standing

    /// Creates a push.
    public init(
        token: APNsDeviceToken, headers: Headers, payload: [UInt8], apnsID: UUID? = nil, standing: Standing = .ordinary
    ) {
        self.token = token
        self.headers = headers
        self.payload = payload
        self.apnsID = apnsID
        self.standing = standing
    }

    /// Creates a push to a token that is a text.
    public init(
        deviceToken: String, headers: Headers, payload: [UInt8], apnsID: UUID? = nil, standing: Standing = .ordinary
    ) {
        self.init(
            token: APNsDeviceToken(deviceToken), headers: headers, payload: payload, apnsID: apnsID, standing: standing)
    }

    /// The device token as a text.
    public var deviceToken: String {
        get { token.text }
        set { token = APNsDeviceToken(newValue) }
    }
}

extension APNsPush {
    /// The headers that many pushes share (Reference/APNs.md#3-2). Equal values are encoded once per connection.
    ///
    /// The fields lie behind one reference. Every push of a broadcast has a copy of them, and to count one reference for each costs less
    /// than one for each of the texts.
    public struct Headers: Hashable, Sendable {
        private struct Values: Hashable {
            var topic: String
            var pushType: APNsPushType
            var priority: Int?
            var expiration: Int64?
            var collapseID: String?
        }

        private final class Fields: Sendable {
            let values: Values

            init(_ values: Values) { self.values = values }
        }

        private var fields: Fields

        /// Creates a header set.
        public init(
            topic: String, pushType: APNsPushType, priority: Int? = nil, expiration: Int64? = nil, collapseID: String? = nil
        ) {
            fields = Fields(
                Values(topic: topic, pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID))
        }

        public var topic: String {
            get { fields.values.topic }
            set { change { $0.topic = newValue } }
        }

        public var pushType: APNsPushType {
            get { fields.values.pushType }
            set { change { $0.pushType = newValue } }
        }

        /// 10, 5 or 1; absent leaves the header out.
        public var priority: Int? {
            get { fields.values.priority }
            set { change { $0.priority = newValue } }
        }

        /// Seconds since 1970. Absent leaves the header out, which is not the same as 0.
        public var expiration: Int64? {
            get { fields.values.expiration }
            set { change { $0.expiration = newValue } }
        }

        public var collapseID: String? {
            get { fields.values.collapseID }
            set { change { $0.collapseID = newValue } }
        }

        /// Copies the fields, so that the other copies of this set keep theirs.
        private mutating func change(_ body: (inout Values) -> Void) {
            var values = fields.values
            body(&values)
            fields = Fields(values)
        }

        /// Whether the other is a copy of this one, or this of it: then they are equal. Two that are made apart may be equal as well.
        @inline(__always)
        package func isCopy(of other: Headers) -> Bool { fields === other.fields }

        public static func == (left: Self, right: Self) -> Bool {
            left.isCopy(of: right) || left.fields.values == right.fields.values
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(fields.values) }
    }
}

extension APNsPush {
    /// What the caller knows of the device token, which decides in whose company the push travels.
    ///
    /// One refusal lowers the limit of a whole connection to a single stream until the next success (Reference/APNs.md#1-4). So
    /// doubtful tokens go over a connection of their own, where they slow down each other only.
    public enum Standing: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        /// Refused not long ago: for the separate connection.
        case suspect
        /// Never accepted so far, and of doubtful origin, such as an old import: for the separate connection.
        case untried
        /// Nothing special is known.
        case ordinary
        /// Accepted not long ago: sent first when a success is needed to restore a limit.
        case proven

        /// Whether the push keeps apart from the others.
        public var isDoubtful: Bool { self < .ordinary }

        public static func < (left: Standing, right: Standing) -> Bool { left.rawValue < right.rawValue }
    }
}

/// The kinds of push (Reference/APNs.md#3-3). Open, because Apple adds kinds.
public struct APNsPushType: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String

    /// Creates a push type from its word on the wire.
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let alert = APNsPushType(rawValue: "alert")
    public static let background = APNsPushType(rawValue: "background")
    public static let location = APNsPushType(rawValue: "location")
    public static let voip = APNsPushType(rawValue: "voip")
    public static let complication = APNsPushType(rawValue: "complication")
    public static let fileprovider = APNsPushType(rawValue: "fileprovider")
    public static let mdm = APNsPushType(rawValue: "mdm")
    public static let liveActivity = APNsPushType(rawValue: "liveactivity")
    public static let pushToTalk = APNsPushType(rawValue: "pushtotalk")
    public static let widgets = APNsPushType(rawValue: "widgets")
    public static let controls = APNsPushType(rawValue: "controls")

    /// Every kind that Apple documents.
    public static let documented: [APNsPushType] = [
        .alert, .background, .location, .voip, .complication, .fileprovider, .mdm, .liveActivity, .pushToTalk, .widgets,
        .controls,
    ]

    /// What follows the bundle id in the topic of this kind; empty for most, `nil` where the topic is no bundle id at all.
    public var topicSuffix: String? {
        switch self {
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .pushToTalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        case .mdm: nil
        default: ""
        }
    }

    /// The topic of this kind for an app: the bundle id with the suffix, unless it has it already (Reference/APNs.md#3-3).
    public func topic(of bundleID: String) -> String {
        guard let suffix = topicSuffix, !suffix.isEmpty, !bundleID.hasSuffix(suffix) else { return bundleID }
        return bundleID + suffix
    }

    /// The largest body in bytes (Reference/APNs.md#3-2).
    public var maximumPayload: Int { self == .voip ? 5120 : 4096 }
}

/// The digits of a device token where they lie: many tokens share one piece of memory, so that a batch of a thousand pushes makes no
/// text for each.
public struct APNsDeviceToken: Hashable, Sendable {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let start: UInt32
    @usableFromInline let end: UInt32

    /// Takes the bytes in this range. They are not copied, and stay in memory as long as the token does.
    public init(in bytes: [UInt8], at range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count && bytes.count <= Int(UInt32.max))
        self.bytes = bytes
        start = UInt32(range.lowerBound)
        end = UInt32(range.upperBound)
    }

    /// Copies a text.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(in: bytes, at: bytes.indices)
    }

    /// How many digits it has, if it is one.
    @inlinable
    public var count: Int { Int(end - start) }

    /// The token as a text.
    public var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// The bytes where they lie. Visible to other modules with its text, since it is called for every push.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)]))
        }
    }

    public static func == (left: APNsDeviceToken, right: APNsDeviceToken) -> Bool {
        left.count == right.count && left.withBytes { left in right.withBytes { left.elementsEqual($0) } }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// `apns-id` and its relatives on the wire (Reference/APNs.md#3-2).
public enum APNsUUID {
    /// The text as APNs wants it: 8-4-4-4-12, lower case.
    public static func text(_ uuid: UUID) -> String { uuid.uuidString.lowercased() }

    /// Reads 8-4-4-4-12 hexadecimal digits of either case. Version bits are not checked: APNs makes ids without valid ones.
    public static func parse(_ text: some Sequence<UInt8>) -> UUID? {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        var position = 0
        for byte in text {
            let isHyphen = position == 8 || position == 13 || position == 18 || position == 23
            position += 1
            if isHyphen {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let value = value(ofDigit: byte), digits < 32 else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(value)
            digits += 1
        }
        guard digits == 32, position == 36 else { return nil }
        return uuid(high: high, low: low)
    }

    @inline(__always)
    private static func value(ofDigit byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    private static func uuid(high: UInt64, low: UInt64) -> UUID {
        let first = high.bigEndian
        let second = low.bigEndian
        return withUnsafeBytes(of: (first, second)) { bytes in
            UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
