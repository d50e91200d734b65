import X509

/// The extensions with which Apple marks push certificates (Reference/APNs.md#2-4), and the little DER that they need.
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

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<128: [tag, UInt8(content.count)] + content
        case ..<256: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
        }
    }
}
