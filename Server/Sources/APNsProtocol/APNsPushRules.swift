/// The rules of APNs that can be checked before sending (APNs reference 3.2 and 3.3).
///
/// A value with a memory of the last header set and body, so that a fan-out of one notification checks them once.
public struct APNsPushRules: Sendable {
    /// How much is checked.
    public enum Strictness: Sendable {
        /// Every rule.
        case apple
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
        try Self.checkDeviceToken(push.deviceToken)
        let sameHeaders = lastHeaders == push.headers
        if !sameHeaders {
            try checkHeaders(push.headers)
            lastHeaders = push.headers
            lastPayload = nil
        }
        guard strictness == .apple else { return }
        let limit = push.headers.pushType.maximumPayload
        guard !push.payload.isEmpty else { throw .emptyPayload }
        guard push.payload.count <= limit else { throw .payloadTooLarge(size: push.payload.count, limit: limit) }
        guard push.headers.pushType == .background, lastPayload != push.payload else { return }
        try APNsBackgroundContent.check(push.payload)
        lastPayload = push.payload
    }

    private func checkHeaders(_ headers: APNsPush.Headers) throws(APNsPushFault) {
        try Self.checkWords(headers)
        guard strictness == .apple else { return }
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
        guard headers.topic.utf8.count <= 255, headers.topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformedTopic
        }
        guard (1...32).contains(headers.pushType.rawValue.utf8.count), headers.pushType.rawValue.utf8.allSatisfy(isTypeByte)
        else {
            throw .malformedPushType
        }
        if let collapseID = headers.collapseID {
            guard (1...64).contains(collapseID.utf8.count), isHeaderValue(collapseID) else { throw .malformedCollapseID }
        }
    }

    private static func checkDeviceToken(_ token: String) throws(APNsPushFault) {
        let length = token.utf8.count
        guard length > 0 else { throw .missingDeviceToken }
        guard length % 2 == 0, length <= 400 else { throw .malformedDeviceToken }
        // Done for every push: over the bytes in place, without a branch for each.
        let isHexadecimal =
            token.utf8.withContiguousStorageIfAvailable { bytes in
                var wrong: UInt8 = 0
                for byte in bytes { wrong |= Self.isHexadecimal(byte) ? 0 : 1 }
                return wrong == 0
            } ?? token.utf8.allSatisfy(Self.isHexadecimal)
        guard isHexadecimal else { throw .malformedDeviceToken }
    }

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
