import APNsProtocol
import NIOCore
import NIOHPACK
import NIOHTTP2

extension EmulatorConnectionHandler {
    /// A request begins, or its trailers arrive.
    func receive(headers: HPACKHeaders, ends: Bool, on stream: HTTP2StreamID) {
        let id = Int(stream)
        guard streams[stream] == nil, id > highestStream else {
            if ends { finishRequest(stream) }
            return
        }
        highestStream = id
        if case .draining(let last) = phase, id > last { return }
        guard phase != .silent else { return }
        guard limit.allows(open: streams.count) else {
            refuseBeyondLimit(stream)
            return
        }
        lastStream = max(lastStream, id)
        let open = OpenStream(headers: headers, window: acknowledgedWindow)
        streams[stream] = open
        guard Self.listSize(of: headers) <= ServerSettings.headerListSize else {
            refuseLongHeaders(stream, isComplete: ends)
            return
        }
        if ends { finishRequest(stream) } else if core.rules.answersBeforeBody { answerEarly(open, on: stream) }
    }

    /// The client opened more streams than it may.
    private func refuseBeyondLimit(_ stream: HTTP2StreamID) {
        core.state.withLockedValue { $0.violations[.exceededStreamLimit, default: 0] += 1 }
        guard core.rules.overLimit == .goAway else {
            refuse(stream)
            return
        }
        let text = "Maximum active streams violated for this endpoint."
        startDraining(
            GoAwayForm(lastStream: .zero, code: UInt32(HTTP2ErrorCode.refusedStream.networkCode), debugData: text),
            last: lastStream)
    }

    /// As MAX_HEADER_LIST_SIZE counts it (RFC 9113, 6.5.2).
    private static func listSize(of headers: HPACKHeaders) -> Int {
        headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }

    /// More headers than were announced to be read: 431, as RFC 9113, 10.5.1 proposes. What Apple does is not known.
    private func refuseLongHeaders(_ stream: HTTP2StreamID, isComplete: Bool) {
        let id = core.state.withLockedValue { state in
            state.violations[.exceededHeaderList, default: 0] += 1
            return state.random.identifier().uuidString
        }
        send(APNsAnswer(status: 431, apnsID: id), on: stream)
        if !isComplete { write(.rstStream(.noError), on: stream) }
    }

    /// Answers a wrong credential at once and resets the stream with NO_ERROR, as the rest of the body is not read.
    private func answerEarly(_ open: OpenStream, on stream: HTTP2StreamID) {
        let request = open.request(connection: number, stream: Int(stream), service: service)
        guard let answer = core.judgeEarly(request, credentials: &credentials)?.answer else { return }
        send(answer, on: stream)
        // The library holds DATA back until a flush and would drop it with the reset.
        flush()
        write(.rstStream(.noError), on: stream)
    }

    /// The whole request is here.
    func finishRequest(_ stream: HTTP2StreamID) {
        guard phase != .silent, let open = streams[stream] else { return }
        streams[stream]?.isComplete = true
        if case .draining(let last) = phase, Int(stream) > last { return }
        let request = open.request(connection: number, stream: Int(stream), service: service)
        let verdict = core.judge(request, credentials: &credentials)
        if let fault = verdict.fault {
            inject(fault, answer: verdict.answer, on: stream)
        } else if let answer = verdict.answer {
            let delay = core.rules.answerDelay
            if delay > .zero { send(answer, on: stream, after: delay) } else { send(answer, on: stream) }
        }
    }

    /// Writes an answer and lets it work on the stream limit and the error budget.
    func send(_ answer: APNsAnswer, on stream: HTTP2StreamID) {
        guard let open = streams[stream] else { return }
        forget(stream)
        limit.ended()
        let rules = core.rules
        let body = open.head.method == "HEAD" ? nil : answer.body
        write(.headers(.init(headers: headers(of: answer, rules: rules), endStream: body == nil)), on: stream)
        if let body { send(body: body, pieces: rules.answerPieces, on: stream) }
        takeConsequences(of: answer, rules: rules)
    }

    private func headers(of answer: APNsAnswer, rules: EmulationRules) -> HPACKHeaders {
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: String(answer.status))
        headers.add(name: answer.idHeader, value: answer.apnsID, indexing: .nonIndexable)
        if let uniqueID = answer.uniqueID { headers.add(name: "apns-unique-id", value: uniqueID, indexing: .nonIndexable) }
        if let channelID = answer.channelID { headers.add(name: "apns-channel-id", value: channelID, indexing: .nonIndexable) }
        if answer.body != nil { headers.add(name: "content-type", value: "application/json") }
        let mayRetry = answer.status == 503 || answer.reason == .tooManyRequests
        if mayRetry, let seconds = rules.retryAfter { headers.add(name: "retry-after", value: String(seconds)) }
        return headers
    }

    private func send(body: String, pieces: Int, on stream: HTTP2StreamID) {
        var rest = ByteBuffer(string: body)
        for left in stride(from: min(max(1, pieces), rest.readableBytes), to: 0, by: -1) {
            guard let piece = rest.readSlice(length: left == 1 ? rest.readableBytes : rest.readableBytes / left) else { return }
            write(.data(.init(data: .byteBuffer(piece), endStream: left == 1)), on: stream)
        }
    }

    /// Announces a limit of streams.
    func announce(_ streams: Int) { announce(SettingsChange(streams: streams)) }

    /// What follows an answer (Reference/APNs.md#7-2-22 to #7-2-24).
    private func takeConsequences(of answer: APNsAnswer, rules: EmulationRules) {
        limit.rules = rules
        if let limit = limit.answered(status: answer.status) { announce(limit) }
        let isTokenError = answer.reason == .expiredProviderToken || answer.reason == .tooManyProviderTokenUpdates
        if isTokenError, rules.wedgesAfterTokenError { phase = .silent }
        guard let budget = rules.errorBudget, (400..<500).contains(answer.status), answer.status != 410 else { return }
        errors += answer.reason == .badDeviceToken ? rules.badDeviceTokenWeight : 1
        guard errors >= budget else { return }
        // The body of the answer waits in the library until a flush, and GOAWAY does not.
        flush()
        startDraining(GoAwayForm(lastStream: .zero), last: lastStream)
    }
}

/// A request whose answer is still owed.
struct OpenStream {
    var head = APNsRequest.Head()
    private(set) var body = ByteBuffer()
    private(set) var bodySize = 0
    /// How many body bytes the client may still send, as the HTTP/2 library counts.
    var window: Int
    /// Nothing more of the request comes.
    var isComplete = false

    init(headers: HPACKHeaders, window: Int) {
        self.window = window
        for (name, value, _) in headers { head.add(name: name, value: value) }
    }

    /// Takes in a piece of the body; what exceeds the bound is counted only.
    mutating func append(_ piece: ByteBuffer) {
        bodySize += piece.readableBytes
        let room = APNsRequest.keptBody - body.readableBytes
        guard room > 0 else { return }
        var piece = piece
        if let slice = piece.readSlice(length: min(room, piece.readableBytes)) { body.writeImmutableBuffer(slice) }
    }

    func request(connection: Int, stream: Int, service: APNsService) -> APNsRequest {
        APNsRequest(
            head: head, body: Array(body.readableBytesView), bodySize: bodySize, connection: connection, stream: stream,
            service: service)
    }
}
