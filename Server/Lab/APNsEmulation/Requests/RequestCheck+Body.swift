import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body (Reference/APNs.md#7-2-17).
extension RequestCheck {
    static let bodyPresent = RequestCheck(.bodyPresent) { evidence in
        evidence.request.bodySize == 0 ? APNsRefusal(400, .payloadEmpty) : nil
    }

    /// 4096 bytes, 5120 for VoIP and broadcasts. A request without push type is measured by its topic.
    static let bodySize = RequestCheck(.bodySize) { evidence in
        let isVoIP = evidence.pushType.map { $0 == .voip } ?? (evidence.topic?.hasSuffix(".voip") == true)
        let isLong = isVoIP || evidence.path.bundleID != nil
        let limit = (isLong ? APNsPushType.voip : .alert).maximumPayload
        return evidence.request.bodySize > limit ? APNsRefusal(413, .payloadTooLarge) : nil
    }

    static let bodyForm = RequestCheck(.bodyForm) { evidence in
        guard evidence.rules.bodyThatIsNotJSON == .refuse else { return nil }
        let isObject = (try? JSONDecoder().decode([String: AnyJSON].self, from: Data(evidence.request.body))) != nil
        return isObject ? nil : APNsRefusal(400, .payloadEmpty)
    }

    /// Accepts every JSON value; the parser has checked its form before.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }
}
