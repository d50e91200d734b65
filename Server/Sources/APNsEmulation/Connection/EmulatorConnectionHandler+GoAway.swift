import APNsProtocol
import NIOCore
import NIOHTTP2

/// GOAWAY in all its forms (Reference/APNs.md#1-7 and #7-2-25).
extension EmulatorConnectionHandler {
    /// The debug data that Apple documents; empty without a reason.
    static func json(_ reason: APNsReason?) -> String { reason.map { #"{"reason":"\#($0.rawValue)"}"# } ?? "" }

    /// GOAWAY as the consequence of one request.
    func goAway(_ form: GoAwayForm, answer: APNsAnswer?, on stream: HTTP2StreamID) {
        let this = Int(stream)
        switch form.lastStream {
        case .zero: startDraining(form, last: 0)
        case .beforeThisRequest: startDraining(form, last: max(0, this - 2))
        case .thisRequest, .thisRequestUnanswered: startDraining(form, last: this)
        case .stream(let last): startDraining(form, last: max(0, last))
        case .twoStep, .twoStepBeforeThisRequest:
            filter.sendGoAway(lastStream: Self.noLastStream, code: 0, debugData: "")
            startDraining(form, last: form.lastStream == .twoStep ? this : max(0, this - 2))
        }
        if let answer { send(answer, on: stream) }
    }

    /// Sends GOAWAY. The connection ends after a grace in which the client reads it and gets the answers it is owed.
    func startDraining(_ form: GoAwayForm, last: Int) {
        switch phase {
        case .open: break
        // The second step of two.
        case .draining(let before) where before > last && before == Self.noLastStream: break
        case .draining, .silent: return
        }
        phase = .draining(last: last)
        for stream in streams.keys where Int(stream) > last { forget(stream) }
        for _ in 0..<form.times { filter.sendGoAway(lastStream: last, code: form.code, debugData: form.debugData) }
        if !form.leavesConnectionOpen { closeLater() }
    }

    /// The second step of the graceful form.
    private func finishDraining(reason: APNsReason?) {
        startDraining(GoAwayForm(lastStream: .zero, debugData: Self.json(reason)), last: lastStream)
        flush()
    }

    /// The graceful form: first every stream is promised service, then the real last stream is named.
    func startDraining(reason: APNsReason?, pause: Duration) {
        guard phase == .open, context != nil else { return }
        phase = .draining(last: Self.noLastStream)
        filter.sendGoAway(lastStream: Self.noLastStream, code: 0, debugData: "")
        pausing = after(pause) { $0.finishDraining(reason: reason) }
    }
}
