import APNsProtocol

/// Something that goes wrong on purpose. It strikes requests that passed every check (check 20 of APNs reference 7.2).
public enum InjectedFault: Sendable, Hashable {
    /// Which stream the GOAWAY names as the last one, and what becomes of the struck request.
    public enum LastStream: Sendable, Hashable {
        /// 0: nothing was processed, not even requests that wait for their answer.
        case zero
        /// The stream before: the struck request was not processed.
        case beforeThisRequest
        /// The struck request is processed and answered.
        case thisRequest
        /// The struck request is processed, and the connection ends before its answer.
        case thisRequestUnanswered
        /// First 2^31-1, then the stream of the struck request, which is processed and answered.
        case twoStep
    }

    /// Answers with this status and reason; nothing is delivered.
    case status(Int, APNsReason)
    /// Processes the request and answers later.
    case delay(Duration)
    /// Processes the request and never answers it.
    case noAnswer
    /// Does not process the request; from here the connection stays open, reads nothing and answers nothing.
    case blackHole
    /// RST_STREAM REFUSED_STREAM: not processed.
    case refuseStream
    /// RST_STREAM INTERNAL_ERROR after processing or instead of it.
    case resetStream(processed: Bool)
    /// GOAWAY with NO_ERROR and this reason in JSON (none: empty debug data), then the connection closes.
    case goAway(lastStream: LastStream, reason: APNsReason?)
    /// A TCP reset after processing or instead of it.
    case resetConnection(processed: Bool)

    /// Whether the struck request is processed, that is delivered or stored.
    var processesRequest: Bool {
        switch self {
        case .delay, .noAnswer: true
        case .status, .blackHole, .refuseStream: false
        case .resetStream(let processed), .resetConnection(let processed): processed
        case .goAway(let lastStream, _): lastStream != .zero && lastStream != .beforeThisRequest
        }
    }

    /// Whether the client gets to see an answer.
    var answersRequest: Bool {
        switch self {
        case .status, .delay: true
        case .noAnswer, .blackHole, .refuseStream, .resetStream, .resetConnection: false
        case .goAway(let lastStream, _): lastStream == .thisRequest || lastStream == .twoStep
        }
    }
}
