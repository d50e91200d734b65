import APNsProtocol
import NIOCore

/// The ends of pushes: answers, resends, deadlines.
extension APNsConnectionPool {
    /// Ends a push, once.
    func resolve(_ ticket: PushTicket, _ outcome: APNsOutcome) {
        guard ticket.submission.resolve(Int(ticket.index), outcome) else { return }
        if ticket.submission.isComplete { noteEnd(of: ticket.submission) }
        switch outcome {
        case .accepted: counters.accepted += 1
        case .rejected: counters.rejected += 1
        case .notSent: counters.notSent += 1
        case .unknown: counters.unknown += 1
        }
        guard let observer = configuration.connection.observer else { return }
        let duration = eventLoop.now - ticket.submission.start
        observer.clientDidFinish(
            APNsAnswerReport(
                apnsID: ticket.push.apnsID, outcome: outcome, duration: .nanoseconds(duration.nanoseconds)))
    }

    /// Its caller goes on in the next turn, together with all others of this one.
    func noteEnd(of submission: PushSubmission) {
        guard submission.isAwaited else { return }
        ended.append(submission)
        schedulePump()
    }

    /// Lets the callers of complete submissions go on. Those that live on this loop hand over their next pushes meanwhile.
    func wakeCallers() {
        guard !ended.isEmpty else { return }
        // Who has an outcome finds it counted.
        publishMetrics()
        let executor = eventLoop.executor.asUnownedSerialExecutor()
        let ended = ended
        self.ended.removeAll()
        for submission in ended { submission.resume(on: executor) }
    }

    /// Puts pushes that were provably not processed back to the front of the queue. In the order in which they come back, however many
    /// reports of one turn that takes.
    ///
    /// - Parameter isFree: whether something else than a count keeps this from going on for ever and in haste: the connection has
    ///   ended, and the next ones are paced, or it goes on answering others. A push that stands behind refused ones is refused
    ///   with them each time the limit falls (Reference/APNs.md#1-4), and that is no reason to give it up before its deadline.
    func sendAgain(_ tickets: [PushTicket], isFree: Bool = false) {
        for var ticket in tickets {
            guard isFree || ticket.resends < configuration.resends, !state.isStopping else {
                resolve(ticket, .notSent(.refusedStream))
                continue
            }
            if !isFree { ticket.resends += 1 }
            counters.resends += 1
            returned.append(ticket)
        }
        if !returned.isEmpty { schedulePump() }
    }

    /// Call before the queue is looked at.
    func queueReturned() {
        guard !returned.isEmpty else { return }
        queue.prepend(returned)
        returned.removeAll()
    }

    /// Ends every push that satisfies the condition, wherever it is.
    func end(_ failure: APNsFailure, where condition: (PushTicket) -> Bool) {
        queueReturned()
        // A queued push could not be sent because of what keeps the connections away, if anything does.
        let queuedFailure = failure == .deadline && !hasUsableConnection ? state.lastFailure ?? .unreachable : failure
        for ticket in queue.removeAll(where: condition) { resolve(ticket, .notSent(queuedFailure)) }
        for ticket in admission.removeAll(where: condition) { resolve(ticket, .notSent(queuedFailure)) }
        for (_, handler) in handlers {
            for (ticket, isIncomplete) in handler.cancelAll(where: condition) {
                resolve(ticket, isIncomplete ? .notSent(failure) : .unknown(failure))
            }
            if failure == .cancelled { handler.connection.forgiveSilence() }
        }
        schedulePump()
    }

    private var hasUsableConnection: Bool {
        state.phases.contains { if case .ready = $0.phase { true } else { false } }
    }

    /// Makes sure that somebody looks at the deadlines then.
    func scheduleSweep(at deadline: NIODeadline) {
        if let sweep, sweep.at <= deadline { return }
        sweep?.timer.cancel()
        let timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.sweepDeadlines() }
        sweep = (timer, deadline)
    }

    private func sweepDeadlines() {
        sweep = nil
        let now = eventLoop.now
        end(.deadline) { $0.deadline <= now }
        // What came back meanwhile, from a connection that broke under the resets, has a deadline too.
        queueReturned()
        var earliest = admission.earliestDeadline
        queue.forEach { earliest = min(earliest, $0.deadline) }
        for (_, handler) in handlers { handler.connection.forEachTicket { earliest = min(earliest, $0.deadline) } }
        // Bounded below, so that many deadlines close together cost one pass.
        if earliest < .distantFuture { scheduleSweep(at: max(earliest, now + configuration.sweepInterval)) }
    }
}
