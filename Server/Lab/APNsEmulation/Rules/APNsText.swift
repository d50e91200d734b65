import APNsProtocol

/// The small text forms of the protocol. They are not read with what the client writes them with, so that a mistake of one is no rule of
/// the other.
enum APNsText {
    static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// 8-4-4-4-12 hexadecimal digits; the version bits are ignored, since Apple's own ids have none.
    static func isUUID(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count == 36 else { return false }
        for (index, byte) in bytes.enumerated() {
            let dash = index == 8 || index == 13 || index == 18 || index == 23
            guard dash ? byte == UInt8(ascii: "-") : isHex(byte) else { return false }
        }
        return true
    }

    /// A device token: an even number of hexadecimal digits. 64 is classic, but no length may be assumed
    /// (Reference/APNs.md#3-2); below 64 it is too short, and 512 is far above any that was reported.
    static func isDeviceToken(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.count >= 64 && bytes.count <= 512 && bytes.count.isMultiple(of: 2) && bytes.allSatisfy(isHex)
    }

    /// Letters, digits, dots and hyphens, as bundle ids have them; underscores are let through.
    static func isTopic(_ text: String) -> Bool {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= 255, bytes.first != UInt8(ascii: "."), bytes.last != UInt8(ascii: ".") else {
            return false
        }
        return bytes.allSatisfy {
            isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }

    /// A channel id: base64 of at most 64 bytes of text, padding included (Reference/APNs.md#5-1; the length is not documented).
    static func isChannelID(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (4...64).contains(bytes.count), bytes.count.isMultiple(of: 4) else { return false }
        let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return padding <= 2
            && bytes.dropLast(padding).allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
    }
}

/// A topic taken apart into bundle id and suffix (Reference/APNs.md#3-3).
struct TopicName: Sendable, Hashable {
    var bundleID: String
    /// With its leading dot; empty for an app's own topic.
    var suffix: String

    private static let suffixes: [String] = APNsPushType.documented
        .compactMap(\.topicSuffix).filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }

    /// Finds the longest documented suffix.
    init(_ topic: String) {
        for suffix in Self.suffixes where topic.hasSuffix(suffix) && topic.utf8.count > suffix.utf8.count {
            bundleID = String(topic.dropLast(suffix.count))
            self.suffix = suffix
            return
        }
        bundleID = topic
        suffix = ""
    }

    /// Whether a push of this kind may use the topic. A kind whose topic is no bundle id (MDM) fits any without suffix.
    func fits(_ pushType: APNsPushType) -> Bool { suffix == (pushType.topicSuffix ?? "") }

    /// What the topic extension of a certificate calls it.
    var kind: String {
        switch suffix {
        case "": "app"
        case ".voip": "voip"
        case ".complication": "complication"
        default: String(suffix.dropFirst())
        }
    }
}
