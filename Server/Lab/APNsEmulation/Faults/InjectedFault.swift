import APNsProtocol

/// A deliberate failure. It affects requests that passed every check (Reference/APNs.md#7-2-20).
public enum InjectedFault: Sendable, Hashable {
    /// Which stream the GOAWAY names as the last one, and what becomes of the affected request.
    public enum LastStream: Sendable, Hashable {
        /// 0: nothing was processed, not even requests that wait for their answer.
        case zero
        /// The stream before: the affected request was not processed.
        case beforeThisRequest
        /// The affected request is processed and answered.
        case thisRequest
        /// The affected request is processed, and the connection ends before its answer.
        case thisRequestUnanswered
        /// First 2^31-1, then the stream of the affected request, which is processed and answered.
        case twoStep
        /// First 2^31-1, then the stream before: the affected request was not processed.
        case twoStepBeforeThisRequest
        /// This stream, whatever happened. Streams above it get no answer; the affected request is not processed.
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

    /// Whether the affected request is processed, that is delivered or stored.
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

    /// The answer to the request, which is not processed.
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

/// A GOAWAY frame of any shape: what Apple was seen to send, and what a client has to survive (Reference/APNs.md#1-7).
public struct GoAwayForm: Sendable, Hashable {
    /// Which stream it names, and what becomes of the affected request.
    public var lastStream: InjectedFault.LastStream
    /// The error code of HTTP/2; 0 is NO_ERROR, 7 is REFUSED_STREAM.
    public var code: UInt32
    /// The debug data as it is sent, JSON or not.
    public var debugData: String
    /// How often the frame is sent; the same frame twice was seen.
    public var times: Int
    /// The server does not end the connection; the client has to.
    public var leavesConnectionOpen: Bool

    /// Creates a form.
    public init(
        lastStream: InjectedFault.LastStream, code: UInt32 = 0, debugData: String = "", times: Int = 1,
        leavesConnectionOpen: Bool = false
    ) {
        self.lastStream = lastStream
        self.code = code
        self.debugData = debugData
        self.times = max(1, times)
        self.leavesConnectionOpen = leavesConnectionOpen
    }
}

/// SETTINGS in the middle of a connection. What is left out stays as it is.
public struct SettingsChange: Sendable, Hashable {
    /// MAX_CONCURRENT_STREAMS.
    public var streams: Int?
    /// INITIAL_WINDOW_SIZE, which changes open streams too; 0 stops every body.
    public var initialWindowSize: Int?
    /// MAX_FRAME_SIZE; HTTP/2 allows no less than 16,384.
    public var maximumFrameSize: Int?

    /// What MAX_FRAME_SIZE may be here: HTTP/2 would allow 16 MiB.
    public static let frameSizes = 16_384...65_536
    /// What INITIAL_WINDOW_SIZE may be.
    public static let windowSizes = 0...0x7FFF_FFFF

    /// Creates a change; values outside of what is allowed are brought to the nearest that is.
    public init(streams: Int? = nil, initialWindowSize: Int? = nil, maximumFrameSize: Int? = nil) {
        self.streams = streams.map { max(0, $0) }
        self.initialWindowSize = initialWindowSize.map { min(max($0, 0), Self.windowSizes.upperBound) }
        self.maximumFrameSize = maximumFrameSize.map {
            min(max($0, Self.frameSizes.lowerBound), Self.frameSizes.upperBound)
        }
    }
}

/// The faults that wait for a request.
struct FaultPlan: Sendable {
    private struct Planned: Sendable {
        var fault: InjectedFault
        var remaining: Int
        var skip: Int
        /// Affects every request with a multiple of this number; absent for a fault that affects the next ones.
        var period: Int?
        var token: String?
    }

    private var planned: [Planned] = []

    mutating func add(_ fault: InjectedFault, count: Int, skip: Int, every period: Int?, token: String?) {
        guard count > 0 else { return }
        planned.append(Planned(fault: fault, remaining: count, skip: max(0, skip), period: period, token: token))
    }

    mutating func removeAll() { planned.removeAll() }

    /// The fault for a request to this device token, in lower case; the first that fits and is due is used up by one.
    /// Periodic faults count on their own, so that several of them overlap; of the others the first that fits counts alone.
    mutating func next(for token: String) -> InjectedFault? {
        var chosen: Int?
        var hasCounted = false
        for index in planned.indices where planned[index].token == nil || planned[index].token == token {
            if planned[index].period == nil {
                if hasCounted { continue }
                hasCounted = true
            }
            if planned[index].skip > 0 {
                planned[index].skip -= 1
            } else if chosen == nil {
                chosen = index
            }
        }
        guard let chosen else { return nil }
        return use(chosen)
    }

    private mutating func use(_ index: Int) -> InjectedFault {
        let fault = planned[index].fault
        planned[index].remaining -= 1
        if let period = planned[index].period { planned[index].skip = period - 1 }
        if planned[index].remaining == 0 { planned.remove(at: index) }
        return fault
    }
}
