import NIOCore
import NIOHTTP2

extension APNsConnectionHandler {
    /// Sends an answer when its time has come, unless the stream or the connection ends before.
    func send(_ answer: APNsAnswer, on stream: HTTP2StreamID, after delay: Duration) {
        guard let context else { return }
        let eventLoop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        delayed[stream] = Task { [clock = core.clock] in
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute {
                let handler = bound.value
                guard handler.phase != .silent else { return }
                handler.send(answer, on: stream)
                handler.context?.flush()
                handler.closeIfDrained()
            }
        }
    }

    /// Closes after the grace; answers that are still delayed then are waited for.
    func closeLater() {
        guard let context, closing == nil else { return }
        let eventLoop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        closing = Task { [clock = core.clock, grace = core.rules.goAwayGrace] in
            guard (try? await clock.sleep(for: grace)) != nil else { return }
            eventLoop.execute {
                bound.value.isGraceOver = true
                bound.value.closeIfDrained()
            }
        }
    }

    private func closeIfDrained() {
        guard isGraceOver, delayed.isEmpty else { return }
        context?.close(promise: nil)
    }
}
