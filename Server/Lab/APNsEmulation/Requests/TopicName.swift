import APNsProtocol

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
