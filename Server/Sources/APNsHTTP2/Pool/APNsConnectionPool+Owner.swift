import APNsProtocol
import NIOCore

/// What connections report.
extension APNsConnectionPool: APNsConnectionOwner {
    func connectionIsReady(_ id: Int) {
        counters.connected += 1
        state.ready(id)
        tellOfReturn()
        schedulePump()
    }

    func connectionMayTakeMore(_ id: Int) {
        queueReturned()
        guard !queue.isEmpty || state.isStopping else { return schedulePublish() }
        if !queue.isEmpty, let handler = handler(id), let authorization = currentAuthorization() {
            fill(handler, authorization)
            noteBacklog()
        }
        // Whether more connections are wanted is decided once per turn of the loop.
        schedulePump()
    }

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
        }
    }

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

    func connection(_ id: Int, received goAway: HTTP2GoAway, notProcessed: [PushTicket]) {
        let now = eventLoop.now
        if state.phase(of: id) != .draining {
            counters.goAways += 1
            let reason = goAway.reason.flatMap { $0.isKnown ? $0 : nil }
            counters.goAwaysByReason[reason ?? APNsReason(rawValue: ""), default: 0] += 1
            logger.notice(
                "APNs ends the use of a connection",
                metadata: [
                    "apns.connection": "\(id)", "apns.reason": "\(goAway.reason?.rawValue ?? "none")",
                    "apns.code": "\(goAway.code.rawValue)",
                ])
        }
        if let reason = goAway.reason { counters.lastGoAwayReason = reason }
        let wasOfUse = state.isOfUse(id)
        let isFirst = state.phase(of: id) != .draining
        state.draining(id)
        if goAway.refusesCredential, let reason = goAway.reason {
            refuseCredential(because: reason)
        } else if isFirst, !wasOfUse || goAway.code != .noError {
            // The server was not content, or never let this connection be of use: replaced, but not at once.
            state.failed(.connectionClosed, at: now, chance: configuration.chance())
        }
        sendAgain(notProcessed, isFree: true)
        handler(id)?.drain(within: configuration.drain)
        schedulePump()
    }

    func connectionIsIdle(_ id: Int) { state.draining(id) }

    func connectionIsStuck(_ id: Int) {
        guard state.phase(of: id) != .draining else { return }
        logger.warning("An APNs connection answers no request any more and is replaced", metadata: ["apns.connection": "\(id)"])
        rollout.gone(id)
        state.draining(id)
        handler(id)?.drain(within: configuration.drain)
        schedulePump()
    }

    func connection(_ id: Int, closed failure: APNsFailure, unanswered: [(ticket: PushTicket, isIncomplete: Bool)]) {
        if state.phase(of: id) == .connecting {
            counters.connectFailures += 1
            if !state.isStopping { tell(of: failure) }
        }
        handlers.removeAll { $0.id == id }
        rollout.gone(id)
        state.closed(id, failure: failure, at: eventLoop.now, chance: configuration.chance())
        // Together, so that they keep their order.
        sendAgain(unanswered.filter(\.isIncomplete).map(\.ticket), isFree: true)
        for (ticket, isIncomplete) in unanswered where !isIncomplete {
            resolve(ticket, .unknown(failure == .unreachable ? .connectionClosed : failure))
        }
        schedulePump()
    }

    func handler(_ id: Int) -> APNsConnectionHandler? { handlers.first { $0.id == id }?.handler }
}

/// Decides which failed connections the log reports.
extension APNsConnectionPool {
    /// The log repeats the same failure after this time.
    private static let tellingPace = TimeAmount.seconds(60)

    /// No connection could be made: said at once, and then once a minute.
    private func tell(of failure: APNsFailure) {
        let detail = connectDetail
        connectDetail = nil
        let now = eventLoop.now
        if let told, told.failure == failure, now - told.at < Self.tellingPace { return }
        told = (failure, now)
        logger.warning(
            "No connection to APNs can be made; the next one is tried within seconds while pushes wait",
            metadata: [
                "host": "\(configuration.connection.host):\(configuration.connection.port)",
                "apns.reason": "\(failure.rawValue)", "error_detail": "\(detail ?? "none")",
            ])
    }

    private func tellOfReturn() {
        guard told != nil else { return }
        told = nil
        logger.notice(
            "Connections to APNs can be made again",
            metadata: ["host": "\(configuration.connection.host):\(configuration.connection.port)"])
    }
}
