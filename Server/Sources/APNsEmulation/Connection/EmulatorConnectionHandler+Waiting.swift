import NIOCore
import NIOHTTP2

extension EmulatorConnectionHandler {
    /// Does something on the event loop when a time has passed, unless the task is cancelled before; `nil` when the connection is gone.
    ///
    /// The task waits on the event loop as well: where others keep the threads of tasks busy, an answer would come seconds late, and
    /// a client would rightly take the connection for dead.
    func after(_ delay: Duration, _ body: @escaping @Sendable (EmulatorConnectionHandler) -> Void) -> Task<Void, Never>? {
        guard let eventLoop = context?.eventLoop else { return nil }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return Task(executorPreference: LoopExecutor(eventLoop)) { [clock = core.clock] in
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute { body(bound.value) }
        }
    }

    /// Sends an answer when its time has come, unless the stream or the connection ends before.
    func send(_ answer: APNsAnswer, on stream: HTTP2StreamID, after delay: Duration) {
        delayed[stream] = after(delay) { handler in
            guard handler.phase != .silent else { return }
            handler.send(answer, on: stream)
            handler.flush()
            handler.closeIfDrained()
        }
    }

    /// Closes after the grace; answers that are still delayed then are waited for.
    func closeLater() {
        guard closing == nil else { return }
        closing = after(core.rules.goAwayGrace) { handler in
            handler.isGraceOver = true
            handler.closeIfDrained()
        }
    }

    private func closeIfDrained() {
        guard isGraceOver, delayed.isEmpty else { return }
        context?.close(promise: nil)
    }
}

/// Runs tasks on an event loop.
private final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The task that this job belongs to holds the executor until the job has run.
        let executor = asUnownedTaskExecutor()
        eventLoop.execute { job.runSynchronously(on: executor) }
    }
}
