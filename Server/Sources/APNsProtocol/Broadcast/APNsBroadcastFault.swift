/// Why a broadcast or a request about channels is not worth sending (Reference/APNs.md#5). Safe to show: no content.
public enum APNsBroadcastFault: Error, Hashable, Sendable {
    /// The app is not a bundle id: letters, digits, hyphens and dots, at most 255 of them.
    case malformedApp
    /// The channel id is empty, not base64, or longer than 512 characters.
    case malformedChannel
    /// The priority is not 10, 5 or 1.
    case malformedPriority
    /// The expiration is negative.
    case malformedExpiration
    /// Broadcasts carry Live Activities only.
    case notLiveActivity
    /// There is no body.
    case emptyPayload
    /// The body is larger than 5120 bytes.
    case payloadTooLarge(size: Int)
}

extension APNsBroadcastFault {
    /// What APNs would have answered, so that a caller can treat both alike (Reference/APNs.md#4).
    public var rejection: APNsRejection {
        switch self {
        case .malformedApp: APNsRejection(status: 404, reason: .badPath)
        case .malformedChannel: APNsRejection(status: 400, reason: .badChannelID)
        case .malformedPriority: APNsRejection(status: 400, reason: .badPriority)
        case .malformedExpiration: APNsRejection(status: 400, reason: .badExpirationDate)
        case .notLiveActivity: APNsRejection(status: 400, reason: .invalidPushType)
        case .emptyPayload: APNsRejection(status: 400, reason: .payloadEmpty)
        case .payloadTooLarge: APNsRejection(status: 413, reason: .payloadTooLarge)
        }
    }
}

/// The rules that can be checked before a request about channels is sent.
public enum APNsBroadcastRules {
    /// Checks a broadcast. What keeps the request well-formed on the wire always counts, the rest only under `.apple`.
    public static func check(_ broadcast: APNsBroadcast, _ strictness: APNsPushRules.Strictness) throws(APNsBroadcastFault) {
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
            throw .payloadTooLarge(size: broadcast.payload.count)
        }
    }

    /// Checks a bundle id that will stand in a path.
    public static func check(app: String) throws(APNsBroadcastFault) {
        guard (1...255).contains(app.utf8.count), app.utf8.allSatisfy(isBundleIDByte) else { throw .malformedApp }
    }

    /// Checks a channel id that will stand in a header.
    public static func check(channel: APNsChannel.ID) throws(APNsBroadcastFault) {
        guard channel.isWellFormed else { throw .malformedChannel }
    }

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        isWordByte(byte) || byte &- 0x41 < 26 || byte == UInt8(ascii: ".")
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || byte &- 0x61 < 26 || byte == UInt8(ascii: "-")
    }
}
