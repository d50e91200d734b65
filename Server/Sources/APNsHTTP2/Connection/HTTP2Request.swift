import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request that is no device push: broadcasts and channel management (Reference/APNs.md#5), and posts to another service. They take
/// the same way through the pool, with the same rules for limits, deadlines and resends; only their header block is written field
/// by field.
struct HTTP2Request {
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
    var pathIndexing: HPACKEncoder.Indexing = .nameOnly
    var fields: [Field]
    var body: [UInt8] = []
    /// Filled with the answer; read it only after the request has ended.
    var response = HTTP2Response()
}

/// The whole answer to a request. Belongs to the event loop until the request has its outcome, then to the caller.
final class HTTP2Response {
    /// Whether APNs gives the answer. That of another service says nothing of the connection: any status ends the request as accepted.
    let isOfAPNs: Bool
    /// More is not kept.
    let maximumBody: Int

    /// Where the body of another service is cut off: its end may never come. It fits into the window of a stream, so none is credited.
    var longestBody: Int? { isOfAPNs ? nil : min(max(maximumBody, 16_384), 65_535) }

    var content = Content()

    /// What the answer carried.
    struct Content: Sendable {
        var channelID: APNsChannel.ID?
        /// 0 until the answer began.
        var status = 0
        var retryAfter: String?
        var body: [UInt8] = []
    }

    /// The answer of APNs: the ids of 10,000 channels fit.
    init() { (isOfAPNs, maximumBody) = (true, 1 << 20) }

    /// The answer of another service.
    init(ofOtherService maximumBody: Int) { (isOfAPNs, self.maximumBody) = (false, maximumBody) }
}

extension HTTP2Request {
    static func broadcast(_ broadcast: APNsBroadcast) -> HTTP2Request {
        var fields = [
            Field(name: "apns-channel-id", value: broadcast.channel.rawValue),
            Field(name: "apns-expiration", value: String(broadcast.expiration), indexing: .nameOnly),
            Field(name: "apns-priority", value: String(broadcast.priority), indexing: .indexed),
            Field(name: "apns-push-type", value: broadcast.pushType.rawValue, indexing: .indexed),
        ]
        if let id = broadcast.requestID { fields.append(Field(name: "apns-request-id", value: APNsUUID.text(id))) }
        return HTTP2Request(
            method: .post, path: "/4/broadcasts/apps/" + broadcast.app, fields: fields, body: broadcast.payload)
    }

    static func createChannel(in app: String, _ policy: APNsChannel.StoragePolicy) -> HTTP2Request {
        let body = #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        return HTTP2Request(method: .post, path: "/1/apps/\(app)/channels", fields: [], body: Array(body.utf8))
    }

    /// The id travels in a header, never in the path (Reference/APNs.md#5-2).
    static func channel(_ id: APNsChannel.ID, in app: String, _ method: Method) -> HTTP2Request {
        HTTP2Request(
            method: method, path: "/1/apps/\(app)/channels", fields: [Field(name: "apns-channel-id", value: id.rawValue)])
    }

    static func allChannels(in app: String) -> HTTP2Request {
        HTTP2Request(method: .get, path: "/1/apps/\(app)/all-channels", fields: [])
    }
}
