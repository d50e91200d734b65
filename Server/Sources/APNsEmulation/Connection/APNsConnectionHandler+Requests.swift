import APNsProtocol
import NIOCore
import NIOHPACK
import NIOHTTP2

extension APNsConnectionHandler {
    /// A request begins, or its trailers arrive.
    func receive(headers: HPACKHeaders, ends: Bool, on stream: HTTP2StreamID) {
        guard streams[stream] == nil else {
            if ends { finishRequest(stream) }
            return
        }
        let id = Int(stream)
        if case .draining(let last) = phase, id > last { return }
        guard phase != .silent, limit.allows(open: streams.count) else {
            if phase != .silent { refuse(stream) }
            return
        }
        lastStream = max(lastStream, id)
        streams[stream] = OpenStream(headers: headers)
        if ends { finishRequest(stream) }
    }

    /// The client opened more streams than it may.
    private func refuse(_ stream: HTTP2StreamID) {
        guard core.rules.overLimit == .refuseStream else {
            let text = ByteBuffer(string: "Maximum active streams violated for this endpoint.")
            startDraining(last: lastStream, code: .refusedStream, data: text)
            return
        }
        write(.rstStream(.refusedStream), on: stream)
        // Apple answers the DATA frame of a refused stream with a second reset; the library drops that frame unseen.
        if core.rules.resetsRefusedStreamsTwice { write(.rstStream(.streamClosed), on: stream) }
    }

    /// The whole request is here.
    func finishRequest(_ stream: HTTP2StreamID) {
        guard phase != .silent, let open = streams[stream] else { return }
        if case .draining(let last) = phase, Int(stream) > last { return }
        let verdict = core.judge(open.request(connection: number, stream: Int(stream)), credentials: &credentials)
        if let fault = verdict.fault {
            strike(fault, answer: verdict.answer, on: stream)
        } else if let answer = verdict.answer {
            send(answer, on: stream)
        }
    }

    /// Writes an answer and lets it work on the stream limit and the error budget.
    func send(_ answer: APNsAnswer, on stream: HTTP2StreamID) {
        guard let open = streams[stream] else { return }
        forget(stream)
        let body = open.head.method == "HEAD" ? nil : answer.body
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: String(answer.status))
        headers.add(name: "apns-id", value: answer.apnsID, indexing: .nonIndexable)
        if let uniqueID = answer.uniqueID { headers.add(name: "apns-unique-id", value: uniqueID, indexing: .nonIndexable) }
        if answer.reason != nil { headers.add(name: "content-type", value: "application/json") }
        write(.headers(.init(headers: headers, endStream: body == nil)), on: stream)
        if let body { write(.data(.init(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)), on: stream) }
        takeConsequences(of: answer)
    }

    /// Checks 22 to 24 of APNs reference 7.2.
    private func takeConsequences(of answer: APNsAnswer) {
        if let limit = limit.answered(status: answer.status) {
            self.limit.announce(limit)
            write(.settings(.settings(ServerSettings.update(streams: limit))), on: .rootStream)
        }
        let isTokenError = answer.reason == .expiredProviderToken || answer.reason == .tooManyProviderTokenUpdates
        if isTokenError, core.rules.wedgesAfterTokenError { phase = .silent }
        guard let budget = errorBudget, (400..<500).contains(answer.status), answer.status != 410 else { return }
        errorBudget = budget - (answer.reason == .badDeviceToken ? 5 : 1)
        if budget > 0, let left = errorBudget, left <= 0 { startDraining(last: lastStream, code: .noError, data: nil) }
    }
}
