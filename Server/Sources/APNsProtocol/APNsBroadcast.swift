#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push to all devices that follow a channel (Reference/APNs.md#5-3). It updates or ends a Live Activity; it cannot start one.
public struct APNsBroadcast: Hashable, Sendable {
    /// The largest body in bytes.
    public static let maximumPayload = 5120

    /// The bundle id, without a suffix.
    public var app: String
    public var channel: APNsChannel.ID
    /// The JSON of a Live Activity push.
    public var payload: [UInt8]
    /// 10, 5 or 1. APNs promises no default, so it is always sent.
    public var priority: Int
    /// Seconds since 1970, always sent: 0 keeps nothing, and is the only value for a channel without storage.
    public var expiration: Int64
    /// Sent as `apns-request-id`; absent lets APNs make one.
    public var requestID: UUID?
    public var pushType: APNsPushType

    /// Creates a broadcast.
    public init(
        app: String, channel: APNsChannel.ID, payload: [UInt8], priority: Int = 10, expiration: Int64 = 0,
        requestID: UUID? = nil, pushType: APNsPushType = .liveActivity
    ) {
        self.app = app
        self.channel = channel
        self.payload = payload
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
        self.pushType = pushType
    }
}

/// A broadcast channel of one app in one environment (Reference/APNs.md#5-1). Only Live Activities have channels.
public struct APNsChannel: Hashable, Sendable {
    /// The name that APNs chose: base64 of a length that is not promised. It never comes back after the channel is deleted.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String

        /// Takes an id as it came from APNs.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What APNs keeps for phones that are offline. Fixed when the channel is created.
    public enum StoragePolicy: Int, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing; in exchange for a larger budget. Broadcasts must have expiration 0.
        case none = 0
        /// The newest message, for at most 8 hours.
        case mostRecentMessage = 1
    }

    public var id: ID
    public var storagePolicy: StoragePolicy

    /// Creates a description of a channel.
    public init(id: ID, storagePolicy: StoragePolicy) {
        self.id = id
        self.storagePolicy = storagePolicy
    }
}

extension APNsChannel.ID: CustomStringConvertible {
    public var description: String { rawValue }

    /// Whether it can be a channel's id: base64 and of a length that a header can carry.
    public var isWellFormed: Bool {
        (1...512).contains(rawValue.utf8.count)
            && rawValue.utf8.allSatisfy { byte in
                byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "+/=-_".utf8.contains(byte)
            }
    }
}

/// The rules that can be checked before a request about channels is sent.
public enum APNsBroadcastRules {
    /// Checks a broadcast. What keeps the request well-formed on the wire always counts, the rest only under `.apple`.
    public static func check(_ broadcast: APNsBroadcast, _ strictness: APNsPushRules.Strictness) throws(APNsPushFault) {
        try check(app: broadcast.app)
        try check(channel: broadcast.channel)
        guard (1...32).contains(broadcast.pushType.rawValue.utf8.count), broadcast.pushType.rawValue.utf8.allSatisfy(isWordByte)
        else { throw .notLiveActivity }
        guard strictness == .apple else { return }
        guard broadcast.pushType == .liveActivity else { throw .notLiveActivity }
        guard [10, 5, 1].contains(broadcast.priority) else { throw .malformedPriority }
        guard broadcast.expiration >= 0 else { throw .malformedExpiration }
        guard !broadcast.payload.isEmpty else { throw .emptyPayload }
        guard broadcast.payload.count <= APNsBroadcast.maximumPayload else {
            throw .payloadTooLarge(size: broadcast.payload.count, limit: APNsBroadcast.maximumPayload)
        }
    }

    /// Checks a bundle id that will stand in a path.
    public static func check(app: String) throws(APNsPushFault) {
        guard (1...255).contains(app.utf8.count), app.utf8.allSatisfy(isBundleIDByte) else { throw .malformedApp }
    }

    /// Checks a channel id that will stand in a header.
    public static func check(channel: APNsChannel.ID) throws(APNsPushFault) {
        guard channel.isWellFormed else { throw .malformedChannel }
    }

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        isWordByte(byte) || byte &- 0x41 < 26 || byte == UInt8(ascii: ".")
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || byte &- 0x61 < 26 || byte == UInt8(ascii: "-")
    }
}
