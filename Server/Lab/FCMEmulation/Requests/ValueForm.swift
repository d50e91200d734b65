import WireText

/// The forms of single values (Reference/FCM.md#2).
enum ValueForm {
    /// 22 characters, a colon, and a long part that begins with `APA91b`.
    static func isToken(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].count == 22 && (100...4_096).contains(parts[1].count)
            && parts[1].starts(with: "APA91b".utf8) && parts.allSatisfy { $0.allSatisfy(isURLSafe) }
    }

    static func isInstallationID(_ text: String) -> Bool { text.utf8.count == 22 && text.utf8.allSatisfy(isURLSafe) }
    static func isLabel(_ text: String) -> Bool { isTopic(text) && text.utf8.count <= 50 }
    private static func isDigits(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit) }

    static func isTopic(_ text: String) -> Bool {
        (1...900).contains(text.utf8.count) && text.utf8.allSatisfy { isURLSafe($0) || ".~%".utf8.contains($0) }
    }

    static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.hasPrefix("#") && text.utf8.dropFirst().allSatisfy(\.isASCIIHexadecimalDigit)
    }

    static func isHTTPS(_ text: String) -> Bool {
        let start = "https://"
        guard text.lowercased().hasPrefix(start), text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return false }
        return text.dropFirst(start.count).first.map { !"/?#:".contains($0) } ?? false
    }

    /// A moment of RFC 3339. `WireTime` reads more.
    static func isMoment(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"), WireTime(text) != nil else { return false }
        let hasOffset = bytes[bytes.count - 3] == UInt8(ascii: ":") && "+-".utf8.contains(bytes[bytes.count - 6])
        return bytes.last == UInt8(ascii: "Z") || hasOffset
    }

    /// The milliseconds of a duration; `nil` for another form. On bytes, as it is read for each message.
    static func milliseconds(ofDuration text: String) -> Int64? {
        let bytes = text.utf8
        guard bytes.last == UInt8(ascii: "s") else { return nil }
        let isNegative = bytes.first == UInt8(ascii: "-")
        let parts = bytes.dropFirst(isNegative ? 1 : 0).dropLast()
            .split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? Array(parts[1]) : [UInt8(ascii: "0")]
        let padding = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 9 - fraction.count))
        guard let seconds = number(Array(parts[0]), digits: 12), !fraction.isEmpty,
            let nanoseconds = number(fraction + padding, digits: 9)
        else { return nil }
        let milliseconds = seconds * 1_000 + nanoseconds / 1_000_000
        // A time below a millisecond is still some time: `0s` alone means now or never.
        return (isNegative ? -1 : 1) * (nanoseconds > 0 ? max(1, milliseconds) : milliseconds)
    }

    private static func number(_ bytes: [UInt8], digits limit: Int) -> Int64? {
        guard (1...limit).contains(bytes.count), bytes.allSatisfy(\.isASCIIDigit) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// The headers of Web Push (RFC 8030); others pass.
    static func brokenWebHeader(_ name: String, _ value: String) -> FCMRule? {
        switch name.lowercased() {
        case "ttl": isDigits(value) ? nil : .webTTL
        case "urgency": ["very-low", "low", "normal", "high"].contains(value) ? nil : .webUrgency
        case "topic": (1...32).contains(value.utf8.count) && value.utf8.allSatisfy(isURLSafe) ? nil : .webTopic
        default: nil
        }
    }

    private static let pushTypes: Set = [
        "alert", "background", "location", "voip", "complication", "controls", "fileprovider", "mdm", "liveactivity",
        "pushtotalk",
        "widgets",
    ]

    static func brokenAPNsHeader(_ name: String, _ value: String) -> FCMRule? {
        switch name.lowercased() {
        case "apns-priority": ["1", "5", "10"].contains(value) ? nil : .apnsPriority
        case "apns-expiration": isDigits(value) ? nil : .apnsExpiration
        case "apns-push-type": pushTypes.contains(value) ? nil : .apnsPushType
        case "apns-collapse-id": value.utf8.count <= 64 ? nil : .apnsCollapseID
        case let name: name.hasPrefix("apns-") ? nil : .apnsHeaderName
        }
    }

    static func isURLSafe(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
