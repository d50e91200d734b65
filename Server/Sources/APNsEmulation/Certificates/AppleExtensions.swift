import X509

/// The extensions with which Apple marks push certificates (APNs reference 2.4), and the little DER that they need.
enum AppleExtensions {
    /// For the sandbox.
    static let development = Certificate.Extension(
        oid: [1, 2, 840, 113_635, 100, 6, 3, 1], critical: false, value: null)
    /// For production.
    static let production = Certificate.Extension(
        oid: [1, 2, 840, 113_635, 100, 6, 3, 2], critical: false, value: null)

    private static let null: ArraySlice<UInt8> = [0x05, 0x00]

    /// The list of topics.
    static func topics(_ topics: [(topic: String, kind: String)]) -> Certificate.Extension {
        Certificate.Extension(
            oid: [1, 2, 840, 113_635, 100, 6, 3, 6], critical: false, value: encodeTopics(topics)[...])
    }

    /// UID in the subject: the bundle id.
    static func userID(_ bundleID: String) -> RelativeDistinguishedName.Attribute {
        .init(type: [0, 9, 2_342, 19_200_300, 100, 1, 1], utf8String: bundleID)
    }

    /// SEQUENCE of alternating UTF8String topic and SEQUENCE { UTF8String kind }.
    static func encodeTopics(_ topics: [(topic: String, kind: String)]) -> [UInt8] {
        let content = topics.flatMap { entry in
            element(0x0C, Array(entry.topic.utf8)) + element(0x30, element(0x0C, Array(entry.kind.utf8)))
        }
        return element(0x30, content)
    }

    /// The topics of such an extension; `nil` if it has another shape.
    static func decodeTopics(_ bytes: some Sequence<UInt8>) -> [String]? {
        var outer = Array(bytes)[...]
        guard let (tag, content) = next(&outer), tag == 0x30, outer.isEmpty else { return nil }
        var rest = content
        var topics: [String] = []
        while !rest.isEmpty {
            guard let (tag, name) = next(&rest), tag == 0x0C, let topic = String(validating: name, as: UTF8.self),
                let (kinds, _) = next(&rest), kinds == 0x30
            else { return nil }
            topics.append(topic)
        }
        return topics
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<128: [tag, UInt8(content.count)] + content
        case ..<256: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
        }
    }

    /// Takes the first element off.
    private static func next(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            guard (0x81...0x82).contains(first) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7F) {
                guard let byte = bytes.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        return (tag, content)
    }
}
