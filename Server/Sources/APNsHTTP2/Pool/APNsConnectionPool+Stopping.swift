import APNsProtocol
import NIOCore

/// The end of a client, and its numbers.
extension APNsConnectionPool {
    /// Takes no more pushes, lets the accepted ones end until the limit, then closes everything.
    func stop(within limit: TimeAmount, waiter: CheckedContinuation<Void, Never>?) {
        if let waiter {
            guard !isStopped else { return waiter.resume() }
            stopWaiters.append(waiter)
        }
        guard !state.isStopping else { return }
        admit()
        state.stop()
        stopTimer = eventLoop.assumeIsolated().scheduleTask(in: limit) { self.stopNow() }
        schedulePump()
    }

    /// Called after every turn: when nothing is owed any more, the connections close.
    func finishStopping() {
        guard state.isStopping, !isStopped, queue.isEmpty, admission.isEmpty, returned.isEmpty else { return }
        for (id, handler) in handlers where state.phase(of: id) != .draining {
            state.draining(id)
            handler.drain(within: configuration.drain)
        }
        guard handlers.isEmpty else { return }
        isStopped = true
        stopTimer?.cancel()
        sweep?.timer.cancel()
        publishMetrics()
        wakeCallers()
        for waiter in stopWaiters { waiter.resume() }
        stopWaiters.removeAll()
    }

    private func stopNow() {
        end(.cancelled) { _ in true }
        for (_, handler) in handlers { handler.close(.cancelled) }
        finishStopping()
    }

    func schedulePublish() { schedulePump() }

    /// The numbers for everybody else, once per turn of the loop.
    func publishMetrics() {
        counters.queued = queue.count
        counters.inFlight = 0
        counters.streamLimit = 0
        counters.window = 0
        counters.roundTrip = nil
        for (_, handler) in handlers {
            counters.inFlight += handler.inFlight
            counters.streamLimit += handler.streamLimit
            counters.window += handler.window
            if let roundTrip = handler.connection.probe.roundTrip {
                counters.roundTrip = max(counters.roundTrip ?? .zero, .nanoseconds(roundTrip.nanoseconds))
            }
        }
        counters.connections = state.count { if case .ready = $0 { true } else { false } }
        counters.connecting = state.count { $0 == .connecting }
        counters.draining = state.count { $0 == .draining }
        let snapshot = counters
        metrics.withLockedValue { $0 = snapshot }
    }
}
