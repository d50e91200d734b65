import ServiceErrors

/// What may travel in a header of the push service: a line break or a foreign byte there would end or forge a header.
enum HeaderText {
    /// Whether the text is visible ASCII.
    static func isSafe(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Throws unless the text is 1 to 128 letters, digits, dots, hyphens and underscores: a bundle identifier with its suffix.
    static func checkTopic(_ topic: String) throws {
        guard (1...128).contains(topic.utf8.count), topic.utf8.allSatisfy(isTopicByte) else {
            throw ServiceError(.invalidField, "a topic has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
    }

    /// Throws unless the text is at most 64 bytes of printable ASCII (Reference/APNs.md#3-2).
    static func checkCollapseID(_ text: String) throws {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ServiceError(.invalidField, "a collapse id has 1 to 64 bytes of printable ASCII")
        }
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
