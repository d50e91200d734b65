import Hummingbird
import Logging
import NIOCore

/// What a handler knows of its request besides the request: who is at the other end, how to find it in the log, and until
/// when it must answer.
public struct ServiceRequestContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The address of the peer without its port; `nil` on a unix socket and in router tests. Forwarding headers are not
    /// read: anybody can write them.
    public let remoteAddress: String?
    /// The id of this request in the log and in `X-Request-Id`: a GUID, as clients of the hub protocol expect it.
    public let requestID: String
    /// By when the handler must have answered; extended by routes that take uploads.
    public internal(set) var deadline: RequestDeadline
    /// Whether only the head of the answer is wanted; the handler itself sees `GET`.
    public internal(set) var isHead = false
    /// The connection or HTTP/2 stream, to end it when an unread body is left over.
    let channel: any Channel

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress?.ipAddress
        requestID = Self.guid(source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description)
        deadline = RequestDeadline(at: nil)
        channel = source.channel
        logger[metadataKey: LogKey.requestID.rawValue] = .string(requestID)
    }

    /// The framework's number in hexadecimal, which lacks zeros in front, with all 32 digits and with hyphens.
    static func guid(_ number: String) -> String {
        let digits = Array((String(repeating: "0", count: max(0, 32 - number.utf8.count)) + number.lowercased()).utf8.suffix(32))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
        return groups.joined(separator: "-")
    }
}
