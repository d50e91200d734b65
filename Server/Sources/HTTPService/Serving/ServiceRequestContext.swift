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
    /// The id of this request in the log and in `X-Request-Id`.
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
        requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
        deadline = RequestDeadline(at: nil)
        channel = source.channel
        logger[metadataKey: LogKey.requestID.rawValue] = .string(requestID)
    }
}
