import APNsProtocol
import NIOCore

/// Refusals that concern more than their push (Reference/APNs.md#4).
extension APNsConnectionPool {
    /// Ends a push that APNs refused, or sends it again, and does to the connection what the refusal asks for.
    func obey(_ rejection: APNsRejection, of ticket: PushTicket, stream: UInt32, on id: Int) {
        let now = eventLoop.now
        switch RefusalConsequence(rejection) {
        case .none: state.answered(id, isOfUse: rejection.status == 410, at: now)
        case .renewBinding:
            if renewBindings(id, because: rejection), moveOn(ticket) { return }
            state.answered(id, isOfUse: false, at: now)
        case .leave:
            if state.saidUnavailable(id, to: ticket.push.apnsID) { leave(id, because: rejection, pausing: .serviceUnavailable) }
        case .moveOn:
            // A connection that never was of use would be followed by the next one at once, and so on.
            leave(id, because: rejection, pausing: state.isOfUse(id) ? nil : Self.failure(rejection))
            if moveOn(ticket) { return }
        case .closePool: refuseCredential(because: rejection.reason)
        case .renewToken:
            if renewToken(rejection, of: ticket, stream: stream, on: id) { return }
        case .keepOldToken:
            let generation = handler(id)?.carriedTokens.generation(of: stream)
            leave(id, because: rejection, pausing: .throttled, within: configuration.drainAfterTokenFault)
            if let generation { rollout.hold(refused: generation, at: now) }
        }
        resolve(ticket, .rejected(rejection))
    }

    /// Opens no more streams on the connection. Returns whether this was the first reason to leave it.
    ///
    /// - Parameter failure: why the next connection has to wait, because an immediate retry would get the same answer; absent when it
    ///   need not wait.
    @discardableResult
    func leave(
        _ id: Int, because rejection: APNsRejection?, pausing failure: APNsFailure?, within limit: TimeAmount? = nil
    ) -> Bool {
        rollout.gone(id)
        guard state.phase(of: id) != .draining else { return false }
        logger.notice(
            "An answer of \(configuration.connection.service) ends the use of a connection",
            metadata: ["apns.connection": "\(id)", "apns.reason": "\(rejection?.reason.rawValue ?? "none")"])
        state.draining(id)
        if let failure {
            state.failed(
                failure, at: eventLoop.now, chance: configuration.chance(), isAway: failure == .serviceUnavailable)
        }
        handler(id)?.drain(within: limit ?? configuration.drain)
        schedulePump()
        return true
    }

    private static func failure(_ rejection: APNsRejection) -> APNsFailure {
        rejection.status >= 500 ? .serviceUnavailable : .connectionClosed
    }

    /// APNs wants nothing of this credential: all connections take no more pushes, and what waits ends (Reference/APNs.md#1-8).
    func refuseCredential(because reason: APNsReason) {
        if state.credentialRefused(at: eventLoop.now) {
            logger.error(
                "APNs refuses the credential: pushes end unsent until one more connection is tried",
                metadata: ["apns.reason": "\(reason.isKnown ? reason.rawValue : "unknown")"])
        }
        // Draining may close a connection before it returns, so the list is taken as it is now.
        for (id, handler) in Array(handlers) where state.phase(of: id) != .draining {
            rollout.gone(id)
            state.draining(id)
            handler.drain(within: configuration.drain)
        }
        schedulePump()
    }

    /// Leaves the connections that may not know a topic because they are older than its app. Returns whether that is why this push was
    /// refused, as far as one can know.
    private func renewBindings(_ id: Int, because rejection: APNsRejection) -> Bool {
        let now = eventLoop.now
        guard state.mayKnowTopicAnew(id, at: now) else { return false }
        for member in state.phases where member.boundAt.map({ $0 < now }) ?? false {
            leave(member.id, because: rejection, pausing: nil)
        }
        return true
    }

    /// Sends a push once more on another connection. Returns whether that is still allowed.
    private func moveOn(_ ticket: PushTicket) -> Bool {
        guard !ticket.hasMoved, ticket.resends < configuration.resends, !state.isStopping else { return false }
        var moved = ticket
        moved.hasMoved = true
        sendAgain([moved])
        return true
    }

    /// Returns whether the push will be sent again, which only a new token makes sensible.
    private func renewToken(_ rejection: APNsRejection, of ticket: PushTicket, stream: UInt32, on id: Int) -> Bool {
        // Of this request, and not of those that were written after it.
        let generation = handler(id)?.carriedTokens.generation(of: stream)
        // A pause before the next connection: an immediate retry would fail again.
        let isFirst = leave(id, because: rejection, pausing: .throttled, within: configuration.drainAfterTokenFault)
        guard let cache = configuration.tokens, let generation else { return false }
        guard cache.reportExpired(generation: generation) == .renewed else {
            // Thousands may be under way there, and one line says it.
            if isFirst { reportYoungToken(rejection, cache) }
            return false
        }
        rollout.refuse(generation)
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
}

/// What a refusal means for the connection and the credential it came over: the client's actions of Reference/APNs.md#4 that do
/// not concern the push alone.
enum RefusalConsequence {
    /// The refusal is about this push only.
    case none
    /// APNs fails behind this connection: no more pushes there, and a pause before the next one.
    case leave
    /// The connection has ended, but not the push: a new connection, and the push once more there. A refusal proves that it was
    /// not taken, so that cannot duplicate.
    case moveOn
    /// A topic that a connection may not know because its app is newer: other connections, and the push once more there.
    case renewBinding
    /// No connection with this credential will be of use: none is kept, and none made for a while.
    case closePool
    /// The provider token is too old, and the connection is spoilt (Reference/APNs.md#2-1).
    case renewToken
    /// The provider token is too new, and the connection is spoilt.
    case keepOldToken

    private static let byReason: [APNsReason: RefusalConsequence] = [
        .serviceUnavailable: .leave, .shutdown: .moveOn, .idleTimeout: .moveOn, .unrelatedKeyIDInToken: .moveOn,
        .topicDisallowed: .renewBinding,
        // About an action, and in an answer about this one; only GOAWAY says it of the whole connection.
        .forbidden: .none,
        .expiredProviderToken: .renewToken, .tooManyProviderTokenUpdates: .keepOldToken,
    ]

    /// Known reasons decide; an unknown one counts by its status.
    init(_ rejection: APNsRejection) {
        if let known = Self.byReason[rejection.reason] {
            self = known
        } else if rejection.reason.refusesCredential {
            self = .closePool
        } else {
            self = rejection.status == 503 ? .leave : .none
        }
    }
}
