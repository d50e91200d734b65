import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request that is no device push: broadcasts and channel management (Reference/APNs.md#5). They take the same way through
/// the pool, with the same rules for limits, deadlines and resends; only their header block is written field by field.
struct APNsChannelRequest {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// A header field and whether its value is worth a place in the peer's table.
    struct Field {
        var name: String
        var value: String
        var indexing: HPACKEncoder.Indexing = .nameOnly
    }

    var method: Method
    var path: String
    var fields: [Field]
    var body: [UInt8] = []
    /// Filled with the answer; read it only after the request has ended.
    let response = APNsResponse()
}

/// The whole answer to a request. Belongs to the event loop until the request has its outcome, then to the caller.
final class APNsResponse {
    /// More is not kept: the ids of 10,000 channels fit.
    static let maximumBody = 1 << 20

    var channelID: APNsChannel.ID?
    var body: [UInt8] = []
}

extension APNsChannelRequest {
    static func broadcast(_ broadcast: APNsBroadcast) -> APNsChannelRequest {
        var fields = [
            Field(name: "apns-channel-id", value: broadcast.channel.rawValue),
            Field(name: "apns-expiration", value: String(broadcast.expiration), indexing: .nameOnly),
            Field(name: "apns-priority", value: String(broadcast.priority), indexing: .indexed),
            Field(name: "apns-push-type", value: broadcast.pushType.rawValue, indexing: .indexed),
        ]
        if let id = broadcast.requestID { fields.append(Field(name: "apns-request-id", value: APNsUUID.text(id))) }
        return APNsChannelRequest(
            method: .post, path: "/4/broadcasts/apps/" + broadcast.app, fields: fields, body: broadcast.payload)
    }

    static func createChannel(in app: String, _ policy: APNsChannel.StoragePolicy) -> APNsChannelRequest {
        let body = #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        return APNsChannelRequest(method: .post, path: "/1/apps/\(app)/channels", fields: [], body: Array(body.utf8))
    }

    /// The id travels in a header, never in the path (Reference/APNs.md#5-2).
    static func channel(_ id: APNsChannel.ID, in app: String, _ method: Method) -> APNsChannelRequest {
        APNsChannelRequest(
            method: method, path: "/1/apps/\(app)/channels", fields: [Field(name: "apns-channel-id", value: id.rawValue)])
    }

    static func allChannels(in app: String) -> APNsChannelRequest {
        APNsChannelRequest(method: .get, path: "/1/apps/\(app)/all-channels", fields: [])
    }
}
