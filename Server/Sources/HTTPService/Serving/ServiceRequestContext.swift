import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// What a handler knows of its request besides the request: who is at the other end, how to find it in the log, and until
/// when it must answer.
public struct ServiceRequestContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    private var details: Details

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        let number = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
        details = Details(requestID: Self.guid(number), channel: source.channel, peer: source.channel.remoteAddress)
        logger[metadataKey: LogKey.requestID.rawValue] = .string(requestID)
    }

    /// The address of the peer without its port; `nil` on a unix socket and in router tests. Forwarding headers are not
    /// read: any client can forge them.
    public var remoteAddress: String? { details.peer?.ipAddress }

    /// The id of this request in the log and in `X-Request-Id`: a GUID, as clients of the hub protocol expect it.
    public var requestID: String { details.requestID }

    /// By when the handler must have answered; extended by routes that take uploads.
    public var deadline: RequestDeadline { details.deadline }

    /// Fields that the answer carries whatever becomes of the request, errors included.
    public var answerFields: AnswerFields { details.answerFields }

    /// Whether only the head of the answer is wanted; the handler itself sees `GET`.
    public var isHead: Bool { details.isHead }

    /// The origin of a page of another site that makes the request and may.
    var webOrigin: String? { details.webOrigin }

    /// What the routes that match in their own way found out when they matched this request.
    public var ownRoute: (any Sendable)? { details.ownRoute }

    /// The connection or HTTP/2 stream, to end it when an unread body is left over.
    var channel: any Channel { details.channel }

    /// The same for a request of such a page.
    func calling(from webOrigin: String) -> ServiceRequestContext {
        var copy = self
        copy.details = Details(
            requestID: requestID, channel: channel, peer: details.peer, answerFields: answerFields, webOrigin: webOrigin)
        return copy
    }

    func handling(isHead: Bool, ownRoute: (any Sendable)?, deadline: RequestDeadline) -> ServiceRequestContext {
        var copy = self
        copy.details = Details(
            requestID: requestID, channel: channel, peer: details.peer, isHead: isHead, ownRoute: ownRoute, deadline: deadline,
            answerFields: answerFields, webOrigin: webOrigin)
        return copy
    }

    /// One object, because a context is copied at every step of a request.
    private final class Details: Sendable {
        let requestID: String
        let channel: any Channel
        /// Its text is made on demand only.
        let peer: SocketAddress?
        let deadline: RequestDeadline
        let isHead: Bool
        let ownRoute: (any Sendable)?
        let answerFields: AnswerFields
        let webOrigin: String?

        init(
            requestID: String, channel: any Channel, peer: SocketAddress?, isHead: Bool = false,
            ownRoute: (any Sendable)? = nil, deadline: RequestDeadline = RequestDeadline(at: nil),
            answerFields: AnswerFields = AnswerFields(), webOrigin: String? = nil
        ) {
            self.requestID = requestID
            self.channel = channel
            self.peer = peer
            self.deadline = deadline
            self.answerFields = answerFields
            self.isHead = isHead
            self.ownRoute = ownRoute
            self.webOrigin = webOrigin
        }
    }

    /// The framework's number in hexadecimal, which lacks zeros in front, with all 32 digits and with hyphens.
    static func guid(_ number: String) -> String {
        let given = number.utf8.suffix(32)
        let hyphen = UInt8(ascii: "-")
        return String(unsafeUninitializedCapacity: 36) { text in
            var next = given.startIndex
            var place = 0
            for index in 0..<36 {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    text[index] = hyphen
                    continue
                }
                if place < 32 - given.count {
                    text[index] = UInt8(ascii: "0")
                } else {
                    // Letters of ASCII in lower case; digits have the bit already.
                    text[index] = given[next] | 0x20
                    next = given.index(after: next)
                }
                place += 1
            }
            return 36
        }
    }
}

/// Fields of the answer to one request that are known before it is, such as what is left of a limit.
public final class AnswerFields: Sendable {
    private let fields = NIOLockedValueBox<HTTPFields?>(nil)

    /// Adds fields.
    public func add(_ more: HTTPFields) {
        fields.withLockedValue { fields in
            var all = fields ?? [:]
            all.append(contentsOf: more)
            fields = all
        }
    }

    func write(to headers: inout HTTPFields) {
        guard let fields = fields.withLockedValue({ $0 }) else { return }
        headers.append(contentsOf: fields)
    }
}
