import NIOCore
import NIOHTTP2

/// Flow control of what the client sends (APNs reference 1.5).
extension APNsConnectionHandler {
    /// Credit that was decided on and travels for the time that the rules say.
    struct TravellingCredit {
        var sizes: [HTTP2StreamID: Int] = [:]
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
    }

    /// More came than the credit that had left by then.
    private func endOverrun(on stream: HTTP2StreamID) {
        core.state.withLockedValue { $0.windowsOverrun += 1 }
        let code = HTTP2ErrorCode.flowControlError
        guard stream == .rootStream else { return reset(stream, code) }
        startDraining(GoAwayForm(lastStream: .zero, code: UInt32(code.networkCode)), last: lastStream)
        context?.flush()
        close()
    }

    /// Credit is given back only when half of the window is used up, as Netty does (APNs reference 1.5), or as the rules say.
    func returnCredit(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard phase != .silent, let inbound = event.inboundWindowSize else { return }
        guard event.streamID == .rootStream || streams[event.streamID] != nil else { return }
        guard !unsentCredit.isSpent(window: inbound, of: Int(event.streamID)) else { return endOverrun(on: event.streamID) }
        let rules = core.rules
        let full = event.streamID == .rootStream ? ServerSettings.windowSize : announcedWindow
        let threshold: Int
        switch rules.credit {
        case .halfWindow: threshold = full / 2
        case .everyFrame: threshold = full - 1
        case .never: return
        }
        let window = inbound + (travelling.sizes[event.streamID] ?? 0)
        guard window <= threshold, window < full else { return }
        if rules.creditDelay > .zero {
            grant(full - window, to: event.streamID, after: rules.creditDelay)
        } else {
            grant(full - window, to: event.streamID)
        }
    }

    private func grant(_ size: Int, to stream: HTTP2StreamID) {
        write(.windowUpdate(windowSizeIncrement: size), on: stream)
        unsentCredit.granted(size, to: Int(stream))
    }

    private func grant(_ size: Int, to stream: HTTP2StreamID, after delay: Duration) {
        guard let context else { return }
        let eventLoop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        travelling.lastNumber += 1
        let number = travelling.lastNumber
        travelling.sizes[stream, default: 0] += size
        travelling.tasks[number] = Task { [clock = core.clock] in
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute { bound.value.arrive(size, at: stream, number) }
        }
    }

    private func arrive(_ size: Int, at stream: HTTP2StreamID, _ number: Int) {
        travelling.tasks[number] = nil
        travelling.sizes[stream].map { travelling.sizes[stream] = $0 > size ? $0 - size : nil }
        guard phase != .silent, stream == .rootStream || streams[stream] != nil else { return }
        grant(size, to: stream)
        context?.flush()
        unsentCredit.flushed()
    }

    /// Announces what changes. Every SETTINGS frame is acknowledged, so each counts for the limit.
    func announce(_ change: SettingsChange) {
        limit.announce(change.streams ?? limit.announced)
        announcedWindow = change.initialWindowSize ?? announcedWindow
        write(.settings(.settings(ServerSettings.update(change))), on: .rootStream)
    }

    /// The client has read the oldest SETTINGS frame that it had not acknowledged.
    func settingsWereAcknowledged() {
        limit.acknowledge()
        unsentCredit.windowsChanged()
    }
}
