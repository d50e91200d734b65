import APNsProtocol
import NIOCore

/// What connections report, on the event loop, and how pushes end.
extension APNsConnectionPool {
    /// The server's first SETTINGS arrived.
    func connectionIsReady(_ id: Int) {
        counters.connected += 1
        state.ready(id)
        logRecovery()
        schedulePump()
    }

    /// Everything read so far was handled: there may be room for more pushes.
    func connectionMayTakeMore(_ id: Int) {
        queueReturned()
        guard !queue.isEmpty || state.isStopping else { return schedulePump() }
        if !queue.isEmpty, let handler = handler(id), let authorization = currentAuthorization() {
            fill(handler, authorization)
            noteBacklog()
        }
        // Whether more connections are wanted is decided once per turn of the loop.
        schedulePump()
    }

    /// A push ended, on this stream.
    func connection(_ id: Int, finished ticket: PushTicket, stream: UInt32, _ end: HTTP2StreamEnd) {
        rollout.answered(id)
        switch end {
        case .answered(let outcome):
            if case .rejected(let rejection) = outcome { return obey(rejection, of: ticket, stream: stream, on: id) }
            state.answered(id, isOfUse: true, at: eventLoop.now)
            resolve(ticket, outcome)
        case .refused: sendAgain([ticket], isFree: handler(id)?.connection.answersRequests(at: eventLoop.now) ?? false)
        case .lost(let failure):
            if failure == .streamReset { counters.resets += 1 }
            resolve(ticket, .unknown(failure))
        case .lostToHaste:
            counters.resets += 1
            leave(id, because: nil, pausing: .throttled)
            resolve(ticket, .unknown(.streamReset))
        case .lostToProtocol:
            counters.resets += 1
            resolve(ticket, isAnyServer ? .notSent(.otherProtocol) : .unknown(.streamReset))
        }
    }

    /// Pushes were accepted; all that one read brought, in order.
    func connection(_ id: Int, accepted successes: [HTTP2Success<PushTicket>]) {
        rollout.answered(id, count: successes.count)
        state.answered(id, isOfUse: true, at: eventLoop.now)
        let isObserved = configuration.connection.observer != nil
        for success in successes {
            let ticket = success.ticket
            if isObserved {
                resolve(ticket, .accepted(apnsID: success.apnsID, uniqueID: success.uniqueID))
            } else if ticket.submission.accept(Int(ticket.index), success.apnsID, success.uniqueID) {
                counters.accepted += 1
                if ticket.submission.isComplete { noteEnd(of: ticket.submission) }
            }
        }
    }

    /// The server will take no more; the tickets were not processed.
    func connection(_ id: Int, received goAway: HTTP2GoAway, notProcessed: [PushTicket]) {
        let now = eventLoop.now
        if state.phase(of: id) != .draining {
            counters.goAways += 1
            let reason = goAway.reason.flatMap { $0.isKnown ? $0 : nil }
            counters.goAwaysByReason[reason ?? APNsReason(rawValue: ""), default: 0] += 1
            logger.notice(
                "\(configuration.connection.service) ends the use of a connection",
                metadata: [
                    "apns.connection": "\(id)", "apns.reason": "\(goAway.reason?.rawValue ?? "none")",
                    "apns.code": "\(goAway.code.rawValue)",
                ])
        }
        if let reason = goAway.reason { counters.lastGoAwayReason = reason }
        let wasOfUse = state.isOfUse(id)
        let isFirst = state.phase(of: id) != .draining
        let wantsOther = isAnyServer && goAway.code == .http11Required
        state.draining(id)
        if goAway.refusesCredential, let reason = goAway.reason {
            refuseCredential(because: reason)
        } else if isFirst, !wasOfUse || goAway.code != .noError {
            // The server was not content, or never let this connection be of use: replaced, but not at once.
            state.failed(wantsOther ? .otherProtocol : .connectionClosed, at: now, chance: configuration.chance())
        }
        if wantsOther {
            for ticket in notProcessed { resolve(ticket, .notSent(.otherProtocol)) }
        } else {
            sendAgain(notProcessed, isFree: true)
        }
        handler(id)?.drain(within: configuration.drain)
        schedulePump()
    }

    /// The connection had nothing to do for the idle time and is about to close.
    func connectionIsIdle(_ id: Int) { state.draining(id) }

    /// Requests wait there and none is answered, though PING is; nothing more may be sent there.
    func connectionIsStuck(_ id: Int) {
        guard state.phase(of: id) != .draining else { return }
        logger.warning(
            "A connection to \(configuration.connection.service) answers no request any more and is replaced",
            metadata: ["apns.connection": "\(id)"])
        rollout.gone(id)
        state.draining(id)
        handler(id)?.drain(within: configuration.drain)
        schedulePump()
    }

    /// The connection is gone, with these pushes unanswered.
    func connection(_ id: Int, closed failure: APNsFailure, unanswered: [(ticket: PushTicket, isIncomplete: Bool)]) {
        let wasMade = state.phase(of: id) != .connecting
        if !wasMade {
            counters.connectFailures += 1
            if !state.isStopping { logFailure(failure) }
        }
        handlers.removeAll { $0.id == id }
        rollout.gone(id)
        state.closed(id, failure: failure, at: eventLoop.now, chance: configuration.chance())
        // Together, so that they keep their order.
        sendAgain(unanswered.filter(\.isIncomplete).map(\.ticket), isFree: true)
        for (ticket, isIncomplete) in unanswered where !isIncomplete {
            resolve(ticket, .unknown(failure == .unreachable ? .connectionClosed : failure))
        }
        // A further attempt may be under way, to a server that may well not answer either.
        if isAnyServer, !wasMade, !hasUsableConnection {
            queueReturned()
            failQueue(failure)
        }
        schedulePump()
    }

    func handler(_ id: Int) -> APNsConnectionHandler? { handlers.first { $0.id == id }?.handler }

    /// The same failure is logged again only after this time.
    private static let failureLogInterval = TimeAmount.seconds(60)

    /// Logs a failed connection attempt at once, and then once a minute.
    private func logFailure(_ failure: APNsFailure) {
        let detail = connectDetail
        connectDetail = nil
        let now = eventLoop.now
        if let loggedFailure, loggedFailure.failure == failure, now - loggedFailure.at < Self.failureLogInterval { return }
        loggedFailure = (failure, now)
        logger.warning(
            "No connection to \(configuration.connection.service) can be made; the next one is tried within seconds while pushes wait",
            metadata: [
                "host": "\(configuration.connection.host):\(configuration.connection.port)",
                "apns.reason": "\(failure.rawValue)", "error_detail": "\(detail ?? "none")",
            ])
    }

    private func logRecovery() {
        guard loggedFailure != nil else { return }
        loggedFailure = nil
        logger.notice(
            "Connections to \(configuration.connection.service) can be made again",
            metadata: ["host": "\(configuration.connection.host):\(configuration.connection.port)"])
    }

    // The ends of pushes: answers, resends, deadlines.

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

    /// Its caller resumes in the next turn of the loop, together with all others of this turn.
    func noteEnd(of submission: PushSubmission) {
        guard submission.isAwaited else { return }
        ended.append(submission)
        schedulePump()
    }

    /// Resumes the callers of complete submissions. Those on this loop submit their next pushes meanwhile.
    func wakeCallers() {
        guard !ended.isEmpty else { return }
        // Published before the outcomes, so that a caller with an outcome finds it counted.
        publishMetrics()
        let executor = eventLoop.executor.asUnownedSerialExecutor()
        let ended = ended
        self.ended.removeAll()
        for submission in ended { submission.resume(on: executor) }
    }

    /// Puts pushes that were provably not processed back at the front of the queue. They keep the order in which they come back,
    /// even when one turn of the loop reports them in several calls.
    ///
    /// - Parameter isFree: whether the resend does not count towards the limit, because another bound applies: the connection has
    ///   ended and the next ones are paced, or it still answers other requests. A push behind refused ones is refused with them
    ///   each time the stream limit falls (Reference/APNs.md#1-4); that is no reason to fail it before its deadline.
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

    /// Call before reading the queue.
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

    var hasUsableConnection: Bool {
        state.phases.contains { if case .ready = $0.phase { true } else { false } }
    }

    private var isAnyServer: Bool { configuration.connection.isAnyServer }

    /// Schedules a check of the deadlines.
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
