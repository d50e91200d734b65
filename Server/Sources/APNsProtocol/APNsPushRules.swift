#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The rules of APNs that can be checked before sending (Reference/APNs.md#3-2 and #3-3).
///
/// A value with a memory of the last header set and body, so that a fan-out of one notification checks them once.
public struct APNsPushRules: Sendable {
    /// How much is checked.
    public enum Strictness: Sendable {
        /// Every rule.
        case apple
        /// Every rule but what the body of a background push may hold: for a service that passes on what its callers send. APNs
        /// is not known to refuse a badge or a sound there (Reference/APNs.md#3-3).
        case appleHeaders
        /// Only what keeps the request well-formed on the wire; APNs judges the rest. For push types and rules yet to come.
        case wireOnly
    }

    private let strictness: Strictness
    private var lastHeaders: APNsPush.Headers?
    private var lastPayload: [UInt8]?

    /// Creates the rules.
    public init(strictness: Strictness = .apple) { self.strictness = strictness }

    /// Checks a push.
    public mutating func check(_ push: APNsPush) throws(APNsPushFault) {
        try withUnsafePointer(to: push) { push throws(APNsPushFault) in try check(at: push) }
    }

    /// Checks a push where it lies. To take it out of a batch would count five references, which costs more than the check.
    package mutating func check(at push: UnsafePointer<APNsPush>) throws(APNsPushFault) {
        try Self.checkDeviceToken(push.pointee.token)
        if lastHeaders?.isCopy(of: push.pointee.headers) != true, lastHeaders != push.pointee.headers {
            try Self.checkHeaders(push.pointee.headers, strictness)
            lastHeaders = push.pointee.headers
            lastPayload = nil
        }
        guard strictness != .wireOnly else { return }
        try Self.checkPayload(push.pointee.payload.count, push.pointee.headers.pushType)
        guard strictness == .apple, push.pointee.headers.pushType == .background, lastPayload != push.pointee.payload else {
            return
        }
        try APNsBackgroundContent.check(push.pointee.payload)
        lastPayload = push.pointee.payload
    }

    /// Checks one push of which nothing is known yet.
    public static func check(_ push: APNsPush, _ strictness: Strictness) throws(APNsPushFault) {
        try checkDeviceToken(push.token)
        try checkHeaders(push.headers, strictness)
        guard strictness != .wireOnly else { return }
        try checkPayload(push.payload.count, push.headers.pushType)
        if strictness == .apple, push.headers.pushType == .background { try APNsBackgroundContent.check(push.payload) }
    }

    private static func checkPayload(_ size: Int, _ pushType: APNsPushType) throws(APNsPushFault) {
        let limit = pushType.maximumPayload
        guard size > 0 else { throw .emptyPayload }
        guard size <= limit else { throw .payloadTooLarge(size: size, limit: limit) }
    }

    private static func checkHeaders(_ headers: APNsPush.Headers, _ strictness: Strictness) throws(APNsPushFault) {
        try checkWords(headers)
        guard strictness != .wireOnly else { return }
        if let suffix = headers.pushType.topicSuffix, !suffix.isEmpty, !headers.topic.hasSuffix(suffix) {
            throw .topicWithoutSuffix(suffix)
        }
        if let priority = headers.priority, ![10, 5, 1].contains(priority) { throw .malformedPriority }
        // Without the header APNs takes 10, which is an error for a background push.
        if headers.pushType == .background, headers.priority != 5 { throw .backgroundPriority }
        if let expiration = headers.expiration, expiration < 0 { throw .malformedExpiration }
    }

    /// What must hold for any request: nothing that a header cannot carry, nothing without a bound.
    private static func checkWords(_ headers: APNsPush.Headers) throws(APNsPushFault) {
        guard !headers.topic.isEmpty else { throw .missingTopic }
        guard headers.topic.utf8.count <= 255, everyByte(of: headers.topic, satisfies: { $0 &- 0x21 < 0x5E }) else {
            throw .malformedTopic
        }
        guard (1...32).contains(headers.pushType.rawValue.utf8.count),
            everyByte(of: headers.pushType.rawValue, satisfies: isTypeByte)
        else {
            throw .malformedPushType
        }
        if let collapseID = headers.collapseID {
            guard (1...64).contains(collapseID.utf8.count), isHeaderValue(collapseID) else { throw .malformedCollapseID }
        }
    }

    private static func checkDeviceToken(_ token: APNsDeviceToken) throws(APNsPushFault) {
        guard token.count > 0 else { throw .missingDeviceToken }
        guard token.count % 2 == 0, token.count <= 400 else { throw .malformedDeviceToken }
        // Done for every push: over the bytes in place, eight at a time.
        let isFit = token.withBytes { bytes in
            let memory = UnsafeRawBufferPointer(bytes)
            var index = 0
            var isFit = true
            while index + 8 <= bytes.count {
                isFit = isHexadecimal(memory.loadUnaligned(fromByteOffset: index, as: UInt64.self)) && isFit
                index += 8
            }
            while index < bytes.count {
                isFit = isHexadecimal(bytes[index]) && isFit
                index += 1
            }
            return isFit
        }
        guard isFit else { throw .malformedDeviceToken }
    }

    /// Over the bytes in place, without a branch for each.
    @inline(__always)
    private static func everyByte(of text: String, satisfies condition: (UInt8) -> Bool) -> Bool {
        let result = text.utf8.withContiguousStorageIfAvailable { bytes in
            var isFit = true
            for byte in bytes { isFit = condition(byte) && isFit }
            return isFit
        }
        return result ?? text.utf8.allSatisfy(condition)
    }

    /// The same for eight digits. Each byte is compared in its upper bit, which a digit does not use.
    @inline(__always)
    private static func isHexadecimal(_ bytes: UInt64) -> Bool {
        let upperBits: UInt64 = 0x8080_8080_8080_8080
        func isAtLeast(_ bytes: UInt64, _ bound: UInt64) -> UInt64 { (bytes | upperBits) &- bound &* 0x0101_0101_0101_0101 }
        let lowercase = bytes | 0x2020_2020_2020_2020
        let isDigit = isAtLeast(bytes, 0x30) & ~isAtLeast(bytes, 0x3A)
        let isLetter = isAtLeast(lowercase, 0x61) & ~isAtLeast(lowercase, 0x67)
        return bytes & upperBits == 0 && (isDigit | isLetter) & upperBits == upperBits
    }

    @inline(__always)
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
    }

    private static func isTypeByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || byte &- 0x61 < 26 || byte == UInt8(ascii: "-")
    }

    /// RFC 9113, 8.2.1: no control characters, no blank at either end. Bytes above 127 are allowed, since a collapse id may be any UTF-8.
    private static func isHeaderValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && text.utf8.first != 0x20 && text.utf8.last != 0x20
    }
}

/// Why a push, a broadcast or a request about channels is not worth sending: a rule of APNs that it breaks, found before it costs error
/// budget (Reference/APNs.md#3-3 and #5). Safe to show: no token, no content.
public enum APNsPushFault: Error, Hashable, Sendable {
    /// The device token is empty.
    case missingDeviceToken
    /// The device token is not an even number of hexadecimal digits, or has more than 400 of them.
    case malformedDeviceToken
    /// There is no topic.
    case missingTopic
    /// The topic has characters other than printable ASCII without blanks, or more than 255 of them.
    case malformedTopic
    /// The topic does not end in what the push type demands.
    case topicWithoutSuffix(String)
    /// The push type is not lower-case letters, digits and hyphens, at most 32 of them.
    case malformedPushType
    /// The priority is not 10, 5 or 1.
    case malformedPriority
    /// A background push must have priority 5.
    case backgroundPriority
    /// A background push must have `content-available` 1 and no alert, badge or non-empty sound.
    case backgroundContent
    /// The expiration is negative.
    case malformedExpiration
    /// The collapse id is empty, longer than 64 bytes, or has characters that a header cannot carry.
    case malformedCollapseID
    /// There is no body.
    case emptyPayload
    /// The body is larger than the push type allows; both in bytes.
    case payloadTooLarge(size: Int, limit: Int)
    /// The body is not a JSON object.
    case payloadNotJSON
    /// The app of a channel is not a bundle id: letters, digits, hyphens and dots, at most 255 of them.
    case malformedApp
    /// The channel id is empty, not base64, or longer than 512 characters.
    case malformedChannel
    /// Broadcasts carry Live Activities only.
    case notLiveActivity

    /// What APNs would have answered, so that a caller can treat both alike (Reference/APNs.md#4).
    public var rejection: APNsRejection {
        switch self {
        case .missingDeviceToken: APNsRejection(status: 400, reason: .missingDeviceToken)
        case .malformedDeviceToken: APNsRejection(status: 400, reason: .badDeviceToken)
        case .missingTopic: APNsRejection(status: 400, reason: .missingTopic)
        case .malformedTopic: APNsRejection(status: 400, reason: .badTopic)
        case .topicWithoutSuffix: APNsRejection(status: 400, reason: .topicDisallowed)
        case .malformedPushType, .backgroundContent, .notLiveActivity: APNsRejection(status: 400, reason: .invalidPushType)
        case .malformedPriority, .backgroundPriority: APNsRejection(status: 400, reason: .badPriority)
        case .malformedExpiration: APNsRejection(status: 400, reason: .badExpirationDate)
        case .malformedCollapseID: APNsRejection(status: 400, reason: .badCollapseID)
        case .emptyPayload, .payloadNotJSON: APNsRejection(status: 400, reason: .payloadEmpty)
        case .payloadTooLarge: APNsRejection(status: 413, reason: .payloadTooLarge)
        case .malformedApp: APNsRejection(status: 404, reason: .badPath)
        case .malformedChannel: APNsRejection(status: 400, reason: .badChannelID)
        }
    }
}

/// What the body of a background push must look like (Reference/APNs.md#3-3 and #6-4).
///
/// An empty alert or sound is let through: the payload of the rich push tutorial has `"sound": ""`, and nothing is shown or
/// heard.
private enum APNsBackgroundContent {
    private struct Body: Decodable {
        struct Aps: Decodable {
            var contentAvailable: Int?
            var isVisible: Bool

            enum CodingKeys: String, CodingKey {
                case contentAvailable = "content-available"
                case alert, badge, sound
            }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                contentAvailable = try? container.decodeIfPresent(Int.self, forKey: .contentAvailable)
                isVisible = [CodingKeys.alert, .badge, .sound].contains { key in
                    guard container.contains(key), (try? container.decodeNil(forKey: key)) != true else { return false }
                    return (try? container.decode(String.self, forKey: key)) != ""
                }
            }
        }

        var aps: Aps?
    }

    static func check(_ payload: [UInt8]) throws(APNsPushFault) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(payload)) else { throw .payloadNotJSON }
        guard let aps = body.aps, aps.contentAvailable == 1, !aps.isVisible else { throw .backgroundContent }
    }
}
