/// Why a hub elsewhere did not do what it was asked, and whether it may have done it all the same.
///
/// Nothing in it is a key, a device handle or content.
public struct RemoteHubError: Error, Hashable, Sendable {
    /// What happened.
    public enum Reason: Hashable, Sendable {
        /// The hub answered with this status.
        case refused(status: Int)
        /// No connection came about: wrong address, nobody listening, or a certificate that is not trusted.
        case unreachable
        /// The connection broke, or the time of the call ran out.
        case interrupted
        /// The answer is none of the protocol.
        case unexpectedAnswer
        /// The call itself is not possible; nothing was sent.
        case invalidRequest
    }

    /// What became of the request.
    public enum Fate: Hashable, Sendable {
        /// The hub did nothing; trying again, changed if need be, is safe.
        case nothingDone
        /// The hub may have done it. A send that is repeated under the same request id is one send at a hub that keeps the ids,
        /// as Clarion does; at others it may be two.
        case unknown
    }

    public let reason: Reason
    public let fate: Fate
    /// A sentence: the hub's own if it gave one.
    public let detail: String
    /// How long the hub asks to wait, in seconds.
    public let retryAfter: Int?
    /// The id under which the request was made; the hub's operator can find it by that.
    public let requestID: String?

    /// Creates an error.
    public init(_ reason: Reason, _ fate: Fate, _ detail: String, retryAfter: Int? = nil, requestID: String? = nil) {
        self.reason = reason
        self.fate = fate
        self.detail = detail
        self.retryAfter = retryAfter
        self.requestID = requestID
    }

    /// The status that the hub answered with.
    public var status: Int? {
        if case .refused(let status) = reason { status } else { nil }
    }

    static func invalidRequest(_ detail: String) -> RemoteHubError { RemoteHubError(.invalidRequest, .nothingDone, detail) }

    func with(requestID: String) -> RemoteHubError {
        RemoteHubError(reason, fate, detail, retryAfter: retryAfter, requestID: requestID)
    }
}

extension RemoteHubError: CustomStringConvertible {
    public var description: String {
        let fate = fate == .unknown ? "; it is not known whether the hub did it" : ""
        return status.map { "\($0): \(detail)\(fate)" } ?? detail + fate
    }
}
