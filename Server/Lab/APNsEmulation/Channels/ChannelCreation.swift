import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body with which a channel is created, judged (Reference/APNs.md#5-2).
enum ChannelCreation: Sendable, Hashable {
    case valid(ChannelPolicy)
    case refused(APNsRefusal)

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Body: Decodable {
        var names: Set<String>
        var policy: ChannelPolicy?
        var pushType: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            names = Set(container.allKeys.map(\.stringValue))
            let number = try? container.decode(Int.self, forKey: AnyKey(stringValue: ChannelCreation.policyKey))
            policy = number.flatMap(ChannelPolicy.init(rawValue:))
            pushType = try? container.decode(String.self, forKey: AnyKey(stringValue: ChannelCreation.pushTypeKey))
        }
    }

    static let policyKey = "message-storage-policy"
    static let pushTypeKey = "push-type"

    /// In this order: JSON, its keys, its push type, its policy.
    init(body: [UInt8]) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(body)) else {
            self = .refused(APNsRefusal(400, .badRequestPayload))
            return
        }
        if !body.names.isSubset(of: [Self.policyKey, Self.pushTypeKey]) {
            self = .refused(APNsRefusal(400, .badRequestParams))
        } else if !body.names.contains(Self.pushTypeKey) {
            self = .refused(APNsRefusal(400, .missingPushType))
        } else if body.pushType?.lowercased() != APNsPushType.liveActivity.rawValue {
            self = .refused(APNsRefusal(400, .invalidPushType))
        } else if let policy = body.policy {
            self = .valid(policy)
        } else {
            self = .refused(APNsRefusal(400, .badRequestParams))
        }
    }
}
