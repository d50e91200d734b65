import HubProtocol
import ServiceErrors

/// Why a hub elsewhere did not do what it was asked, and whether it may have done it all the same.
///
/// It contains no key, device token or content.
public struct RemoteHubError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened.
    public enum Reason: Hashable, Sendable {
        /// The hub answered with this status.
        case refused(status: Int)
        /// No connection was established: wrong address, no listener, or an untrusted certificate.
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
        /// The hub may have done it. A send that is retried under the same request id is one send at a hub that keeps the ids,
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

    public var description: String {
        let fate = fate == .unknown ? "; it is not known whether the hub did it" : ""
        return status.map { "\($0): \(detail)\(fate)" } ?? detail + fate
    }
}

/// What answers of failure mean.
enum AnswerReading {
    /// The error of an answer. A 5xx may come after the work was done; a 4xx says that nothing was, unless an earlier attempt of
    /// the same call may have.
    static func error(of answer: HubResponse, mayBeDone: Bool) -> RemoteHubError {
        let body = ErrorBody.read(answer.body)
        let unknown = mayBeDone || answer.status >= 500 || answer.status == 408 || answer.status < 400
        let reason: RemoteHubError.Reason =
            answer.status < 400 ? .unexpectedAnswer : .refused(status: answer.status)
        return RemoteHubError(
            reason, unknown ? .unknown : .nothingDone, detail(answer.status, body), retryAfter: retryAfter(answer))
    }

    /// The error of a broken connection.
    static func error(of fault: TransportFault, mayBeDone: Bool) -> RemoteHubError {
        switch fault {
        case .unreachable(let sentence): RemoteHubError(.unreachable, mayBeDone ? .unknown : .nothingDone, sentence)
        case .interrupted(let sentence): RemoteHubError(.interrupted, .unknown, sentence)
        case .answerTooLarge: RemoteHubError(.unexpectedAnswer, .unknown, "the hub's answer is larger than allowed")
        }
    }

    /// An answer of success that cannot be read.
    static func unreadable(_ what: String) -> RemoteHubError {
        RemoteHubError(.unexpectedAnswer, .unknown, "the hub's answer holds no \(what)")
    }

    /// The number in front, `SubCode=40103. `, is for programs; the status says enough.
    private static func withoutSubCode(_ sentence: String) -> Substring {
        guard sentence.hasPrefix("SubCode="), let blank = sentence.firstIndex(of: " ") else { return sentence[...] }
        return sentence[sentence.index(after: blank)...]
    }

    private static func detail(_ status: Int, _ body: ErrorBody?) -> String {
        if let sentence = body?.sentence, !sentence.isEmpty { return String(withoutSubCode(sentence).prefix(500)) }
        return switch status {
        case 401: "the hub refuses the key"
        case 403: "the hub refuses the key for this operation, or its quota is used up"
        case 404: "the hub, or the thing in it, does not exist"
        case 410: "the id cannot be used any more"
        case 412: "it was changed meanwhile"
        case 413: "the request is too large for the hub"
        case 429: "the hub takes no more requests for now"
        case 500...: "the hub is out of order"
        case ..<400: "the hub's answer is none of the protocol"
        default: "the hub refused the request"
        }
    }

    /// Whole seconds (Reference/AzureNotificationHubs.md#2-0); anything else counts as none.
    private static func retryAfter(_ answer: HubResponse) -> Int? {
        answer.headers["Retry-After"].flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil }
    }
}

extension ServiceError {
    /// An error of a hub elsewhere as the callers of this service may see it.
    ///
    /// A refused key is this server's fault and not the caller's: it must not end a caller's sign-in, so it is `not-ready`, and a
    /// send that failed with it stays stored until the operator fixes the key.
    init(_ error: RemoteHubError, isSend: Bool) {
        let isUnknown = isSend && error.fate == .unknown
        let code: ServiceErrorCode =
            switch error.reason {
            case .invalidRequest: .invalidField
            case _ where isUnknown: .outcomeUnknown
            case .unreachable, .interrupted, .unexpectedAnswer: .notReady
            case .refused(400): .invalidField
            case .refused(409): isSend ? .idempotencyMismatch : .conflict
            case .refused(410): .registrationGone
            case .refused(412): .preconditionFailed
            case .refused(413): .payloadTooLarge
            case .refused(408), .refused(429): .overloaded
            case .refused: .notReady
            }
        self.init(code, "the hub elsewhere: \(error.detail)", retryAfter: error.retryAfter)
    }
}
