import APNsProtocol

/// Something that goes wrong on purpose. It strikes requests that passed every check (Reference/APNs.md#7-2-20).
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
        /// First 2^31-1, then the stream before: the struck request was not processed.
        case twoStepBeforeThisRequest
        /// This stream, whatever happened. Streams above it get no answer; the struck one is not processed.
        case stream(Int)
    }

    /// Answers with this status and reason; nothing is delivered.
    case status(Int, APNsReason)
    /// Processes the request and answers later.
    case delay(Duration)
    /// Processes the request and never answers it.
    case noAnswer
    /// Does not process the request; from here the connection stays open, reads nothing and answers nothing.
    case blackHole
    /// From here the connection stays open and reads, PING is acknowledged, and no request is answered, this one included.
    case wedge(processed: Bool)
    /// RST_STREAM REFUSED_STREAM, and STREAM_CLOSED after it if the rules say so: not processed.
    case refuseStream
    /// RST_STREAM INTERNAL_ERROR after processing or instead of it.
    case resetStream(processed: Bool)
    /// RST_STREAM with this error code of HTTP/2, for instance 11, ENHANCE_YOUR_CALM.
    case resetStreamWithCode(UInt32, processed: Bool)
    /// GOAWAY with NO_ERROR and this reason in JSON (none: empty debug data), then the connection closes.
    case goAway(lastStream: LastStream, reason: APNsReason?)
    /// GOAWAY of any shape.
    case goAwayFrame(GoAwayForm)
    /// 503 `Shutdown`, then GOAWAY with the same reason: the server is going away (Reference/APNs.md#4).
    case shutdown
    /// The limit of streams becomes this at once, before the request is processed and answered.
    case streamLimit(Int)
    /// SETTINGS with these values at once, before the request is processed and answered.
    case settings(SettingsChange)
    /// The orderly end of TLS and TCP without GOAWAY, after processing or instead of it.
    case closeConnection(processed: Bool)
    /// A TCP reset after processing or instead of it.
    case resetConnection(processed: Bool)

    /// Whether the struck request is processed, that is delivered or stored.
    var processesRequest: Bool {
        switch self {
        case .delay, .noAnswer, .streamLimit, .settings: true
        case .status, .shutdown, .blackHole, .refuseStream: false
        case .wedge(let processed), .resetStream(let processed), .resetStreamWithCode(_, let processed),
            .closeConnection(let processed), .resetConnection(let processed):
            processed
        case .goAway(let lastStream, _): lastStream.processesRequest
        case .goAwayFrame(let form): form.lastStream.processesRequest
        }
    }

    /// Whether the client gets to see an answer.
    var answersRequest: Bool {
        switch self {
        case .status, .shutdown, .delay, .streamLimit, .settings: true
        case .noAnswer, .blackHole, .wedge, .refuseStream, .resetStream, .resetStreamWithCode, .closeConnection,
            .resetConnection:
            false
        case .goAway(let lastStream, _): lastStream.answersRequest
        case .goAwayFrame(let form): form.lastStream.answersRequest
        }
    }

    /// What the request is told instead of being processed.
    var refusal: APNsRefusal? {
        switch self {
        case .status(let status, let reason): APNsRefusal(status, reason)
        case .shutdown: APNsRefusal(503, .shutdown)
        default: nil
        }
    }
}

extension InjectedFault.LastStream {
    fileprivate var processesRequest: Bool {
        switch self {
        case .thisRequest, .thisRequestUnanswered, .twoStep: true
        case .zero, .beforeThisRequest, .twoStepBeforeThisRequest, .stream: false
        }
    }

    fileprivate var answersRequest: Bool { self == .thisRequest || self == .twoStep }
}
