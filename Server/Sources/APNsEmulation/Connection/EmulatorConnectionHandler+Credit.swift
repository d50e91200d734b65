import NIOCore
import NIOHTTP2

/// Flow control of what the client sends (Reference/APNs.md#1-5).
extension EmulatorConnectionHandler {
    /// Credit that was decided on and travels for the time that the rules say.
    struct TravellingCredit {
        var sizes: [HTTP2StreamID: Int] = [:]
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
    }

    /// More came than the credit that had left by then.
    private func endOverrun(on stream: HTTP2StreamID) {
        core.state.withLockedValue { $0.misdeeds[.overranWindow, default: 0] += 1 }
        let code = HTTP2ErrorCode.flowControlError
        guard stream == .rootStream else { return reset(stream, code) }
        // Silent first: what is written may bring further events of this connection, and it is complained of once.
        phase = .silent
        let last = lastStream == 0 ? HTTP2StreamID.rootStream : HTTP2StreamID(lastStream)
        write(.goAway(lastStreamID: last, errorCode: code, opaqueData: nil), on: .rootStream)
        flush()
        context?.close(promise: nil)
    }

    /// The client has used up some of a window.
    func returnCredit(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard phase != .silent, let window = event.inboundWindowSize else { return }
        guard event.streamID == .rootStream || streams[event.streamID] != nil else { return }
        streams[event.streamID]?.window = window
        guard !unsentCredit.isSpent(window: window, of: Int(event.streamID)) else { return endOverrun(on: event.streamID) }
        returnCredit(of: window, on: event.streamID)
    }

    /// Credit is given back only when half of the window is used up, as Netty does (Reference/APNs.md#1-5), or as the rules say.
    private func returnCredit(of window: Int, on stream: HTTP2StreamID) {
        let rules = core.rules
        let full = stream == .rootStream ? ServerSettings.windowSize : announcedWindow
        let threshold: Int
        switch rules.credit {
        case .halfWindow: threshold = full / 2
        case .everyFrame: threshold = full - 1
        case .never: return
        }
        let window = window + (travelling.sizes[stream] ?? 0)
        guard window <= threshold, window < full else { return }
        if rules.creditDelay > .zero {
            grant(full - window, to: stream, after: rules.creditDelay)
        } else {
            grant(full - window, to: stream)
        }
    }

    private func grant(_ size: Int, to stream: HTTP2StreamID) {
        // The library may tell of the new window while this is written.
        let before = streams[stream]?.window
        write(.windowUpdate(windowSizeIncrement: size), on: stream)
        if let before { streams[stream]?.window = before + size }
        unsentCredit.granted(size, to: Int(stream))
    }

    private func grant(_ size: Int, to stream: HTTP2StreamID, after delay: Duration) {
        travelling.lastNumber += 1
        let number = travelling.lastNumber
        travelling.sizes[stream, default: 0] += size
        travelling.tasks[number] = after(delay) { $0.arrive(size, at: stream, number) }
    }

    private func arrive(_ size: Int, at stream: HTTP2StreamID, _ number: Int) {
        travelling.tasks[number] = nil
        travelling.sizes[stream].map { travelling.sizes[stream] = $0 > size ? $0 - size : nil }
        guard phase != .silent, stream == .rootStream || streams[stream] != nil else { return }
        grant(size, to: stream)
        flush()
        unsentCredit.flushed()
    }

    /// Announces what changes. Every SETTINGS frame is acknowledged, so each counts for the limit and for the window.
    func announce(_ change: SettingsChange) {
        limit.announce(change.streams ?? limit.announced)
        announcedWindow = change.initialWindowSize ?? announcedWindow
        unacknowledgedWindows.append(announcedWindow)
        write(.settings(.settings(ServerSettings.update(change))), on: .rootStream)
    }

    /// The client has read the oldest SETTINGS frame that it had not acknowledged. A stream whose window fell below nothing brings
    /// no DATA any more by which it would get credit, so it gets it now.
    func settingsWereAcknowledged() {
        limit.acknowledge()
        unsentCredit.windowsChanged()
        guard !unacknowledgedWindows.isEmpty else { return }
        let difference = unacknowledgedWindows[0] - acknowledgedWindow
        acknowledgedWindow = unacknowledgedWindows.removeFirst()
        guard difference != 0, phase != .silent else { return }
        for (stream, open) in streams {
            streams[stream]?.window = open.window + difference
            if difference < 0, !open.isComplete { returnCredit(of: open.window + difference, on: stream) }
        }
    }
}
