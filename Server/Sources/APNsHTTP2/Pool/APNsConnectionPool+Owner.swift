import APNsProtocol
import NIOCore

/// What connections report.
extension APNsConnectionPool: APNsConnectionOwner {
    func connectionIsReady(_ id: Int) {
        counters.connected += 1
        state.ready(id)
        schedulePump()
    }

    func connectionMayTakeMore(_ id: Int) {
        guard !queue.isEmpty || state.isStopping else { return schedulePublish() }
        if !queue.isEmpty, let handler = handler(id), let authorization = currentAuthorization() {
            fill(handler, authorization)
            noteBacklog()
        }
        // Whether more connections are wanted is decided once per turn of the loop.
        schedulePump()
    }

    func connection(_ id: Int, finished ticket: PushTicket, _ end: HTTP2StreamEnd) {
        rollout.answered(id)
        switch end {
        case .answered(let outcome):
            state.answered(id, at: eventLoop.now)
            if case .rejected(let rejection) = outcome, handleTokenFault(rejection, of: ticket, on: id) { return }
            resolve(ticket, outcome)
        case .refused: sendAgain([ticket])
        case .lost(let failure):
            if failure == .streamReset { counters.resets += 1 }
            resolve(ticket, .unknown(failure))
        }
    }

    func connection(_ id: Int, accepted successes: [HTTP2Success<PushTicket>]) {
        rollout.answered(id, count: successes.count)
        state.answered(id, at: eventLoop.now)
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
        let wasOfUse = state.phase(of: id) == .ready(hasAnswered: true)
        let isFirst = state.phase(of: id) != .draining
        state.draining(id)
        if goAway.refusesCredential {
            state.credentialRefused(at: now)
        } else if isFirst, !wasOfUse || goAway.code != .noError {
            // The server was not content, or never let this connection be of use: replaced, but not at once.
            state.failed(.connectionClosed, at: now, chance: configuration.chance())
        }
        sendAgain(notProcessed)
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
        if state.phase(of: id) == .connecting { counters.connectFailures += 1 }
        handlers.removeAll { $0.id == id }
        rollout.gone(id)
        state.closed(id, failure: failure, at: eventLoop.now, chance: configuration.chance())
        for (ticket, isIncomplete) in unanswered {
            if isIncomplete {
                sendAgain([ticket])
            } else {
                resolve(ticket, .unknown(failure == .unreachable ? .connectionClosed : failure))
            }
        }
        schedulePump()
    }

    /// ExpiredProviderToken and TooManyProviderTokenUpdates spoil the connection (APNs reference 2.1): it takes no more
    /// pushes. Returns whether the push will be sent again, which only a new token makes sensible.
    private func handleTokenFault(_ rejection: APNsRejection, of ticket: PushTicket, on id: Int) -> Bool {
        guard rejection.reason == .expiredProviderToken || rejection.reason == .tooManyProviderTokenUpdates else { return false }
        let generation = handler(id)?.authorizationGeneration
        rollout.gone(id)
        if state.phase(of: id) != .draining {
            state.draining(id)
            // A pause before the next connection: neither fault is mended by haste.
            state.failed(.connectionClosed, at: eventLoop.now, chance: configuration.chance())
            handler(id)?.drain(within: configuration.drainAfterTokenFault)
        }
        guard rejection.reason == .expiredProviderToken, let cache = configuration.tokens, let generation else { return false }
        guard cache.reportExpired(generation: generation) == .renewed else {
            reportYoungToken(rejection, cache)
            return false
        }
        rollout.forgetPrevious()
        guard ticket.resends < configuration.resends else { return false }
        sendAgain([ticket])
        return true
    }

    /// Minting another token would not help: says what is likely wrong, and by how much if the answer shows it.
    private func reportYoungToken(_ rejection: APNsRejection, _ cache: ProviderTokenCache) {
        counters.clockSkew = rejection.serverDate.map { cache.skew(ofServerDate: $0) } ?? counters.clockSkew
        let skew = counters.clockSkew.map { "APNs' clock is \($0.components.seconds) seconds ahead" } ?? "no date in the answer"
        logger.error(
            "APNs calls a young provider token expired; the clock of this machine is likely wrong",
            metadata: ["error_detail": "\(skew)"])
    }

    func handler(_ id: Int) -> APNsConnectionHandler? { handlers.first { $0.id == id }?.handler }
}
