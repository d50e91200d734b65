import APNsProtocol
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The connections of a client and the queue before them. Lives on one event loop, and so do all its connections: a push
/// never crosses threads between the caller and the wire.
///
/// It obeys: `APNsPoolState` decides about connections, `HTTP2Connection` about streams.
final class APNsConnectionPool {
    let eventLoop: any EventLoop
    let configuration: APNsPoolConfiguration
    private let connector: any APNsConnector
    let metrics: NIOLockedValueBox<APNsClientMetrics>
    var state: APNsPoolState
    let queue: PushQueue
    /// What waits for room in the queue.
    var admission: PushAdmission
    var handlers: [(id: Int, handler: APNsConnectionHandler)] = []
    var counters = APNsClientMetrics()
    var demand = PoolDemand()
    /// Since when more waits than the connections take.
    private var backlogStart: NIODeadline?
    /// Handed over in this turn and not yet queued.
    private var submitted: [PushSubmission] = []
    private var submittedSince = NIODeadline.uptimeNanoseconds(0)
    /// Not processed where they were sent, and not yet queued again.
    var returned: [PushTicket] = []
    /// Complete, and their callers still wait.
    var ended: [PushSubmission] = []
    private var hasCancellations = false
    private var isPumpScheduled = false
    private var nextHandler = 0
    /// The failed connection that the log reported last, and when; absent while connections succeed.
    var loggedFailure: (failure: APNsFailure, at: NIODeadline)?
    /// Describes the latest attempt that failed.
    var connectDetail: String?
    var rollout = ProviderTokenRollout()
    private var wakeUp: (timer: Scheduled<Void>, at: NIODeadline)?
    var sweep: (timer: Scheduled<Void>, at: NIODeadline)?
    private var stopping: (timer: Scheduled<Void>, at: NIODeadline)?
    var stopWaiters: [CheckedContinuation<Void, Never>] = []
    var isStopped = false

    init(
        eventLoop: any EventLoop, configuration: APNsPoolConfiguration, connector: any APNsConnector,
        metrics: NIOLockedValueBox<APNsClientMetrics>
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.connector = connector
        self.metrics = metrics
        state = configuration.initialState
        queue = PushQueue(limit: configuration.queuedPushes)
        admission = PushAdmission(limit: configuration.queuedPushes)
    }

    var logger: Logger { configuration.connection.logger }

    /// Takes the pushes of one call in the next turn of the loop, together with all others of this turn.
    ///
    /// - Parameter since: when the first of the submissions that arrive together from another thread was handed over; absent means
    ///   now. All of them use this time, so the clock is read once and no push exceeds its deadline.
    func submit(_ submission: PushSubmission, since: NIODeadline? = nil) {
        if submitted.isEmpty {
            submittedSince = since ?? eventLoop.now
        } else if let since, since < submittedSince {
            submittedSince = since
        }
        submitted.append(submission)
        schedulePump()
    }

    /// Queues the submitted pushes. The rest of a batch that does not fit waits. A single push that does not fit fails at once, so
    /// that a caller that sends one by one notices the overload.
    func admit() {
        for submission in submitted {
            submission.begin(at: submittedSince)
            admit(submission)
            scheduleSweep(at: submission.deadline)
        }
        submitted.removeAll(keepingCapacity: true)
        if !admission.isEmpty { admission.fill(queue) { demand.offer($0) } }
    }

    private func admit(_ submission: PushSubmission) {
        if submission.isCancelled || state.isStopping { return refuse(submission, .cancelled) }
        guard submission.isSingle else {
            if !admission.append(submission) { refuse(submission, .queueFull) }
            return
        }
        let ticket = PushTicket(submission: submission, index: 0)
        guard queue.append(ticket) else { return resolve(ticket, .notSent(.queueFull)) }
        demand.offer(ticket.bodySize)
    }

    private func refuse(_ submission: PushSubmission, _ failure: APNsFailure) {
        for index in submission.pushes.indices where !submission.isDecided(index) {
            resolve(PushTicket(submission: submission, index: Int32(index)), .notSent(failure))
        }
    }

    /// Ends the pushes of a cancelled call in the next turn of the loop, together with all others of this turn: a group of many calls
    /// is cancelled with one pass over the queue.
    func cancel(_ submission: PushSubmission) {
        submission.isCancelled = true
        hasCancellations = true
        schedulePump()
    }

    private func endCancelled() {
        guard hasCancellations else { return }
        hasCancellations = false
        end(.cancelled) { $0.submission.isCancelled }
    }

    /// Many calls in one turn of the loop lead to one write.
    func schedulePump() {
        guard !isPumpScheduled else { return }
        isPumpScheduled = true
        eventLoop.assumeIsolated().execute {
            self.isPumpScheduled = false
            self.pump()
        }
    }

    /// Writes what can be written, and asks whether more connections are wanted.
    func pump() {
        wakeCallers()
        queueReturned()
        endCancelled()
        admit()
        if !queue.isEmpty, let authorization = currentAuthorization() {
            // Another connection begins each time, so that all of them are used (Reference/APNs.md#1-2).
            // Writing may end a connection before it returns, so the list is taken as it is now.
            let current = handlers
            nextHandler = current.isEmpty ? 0 : (nextHandler + 1) % current.count
            for offset in current.indices where !queue.isEmpty {
                fill(current[(nextHandler + offset) % current.count].handler, authorization)
            }
        }
        queueReturned()
        noteBacklog()
        demand.note(at: eventLoop.now)
        decide()
        publishMetrics()
        finishStopping()
        if admission.canFill(queue) { schedulePump() }
    }

    /// Call after the connections were offered the queue.
    func noteBacklog() { backlogStart = queue.isEmpty ? nil : backlogStart ?? eventLoop.now }

    func fill(_ handler: APNsConnectionHandler, _ authorization: APNsAuthorization?) {
        if handler.connection.needsSuccess { queue.bringLikeliestToFront() }
        let now = eventLoop.now
        let own = authorization.flatMap { _ in
            rollout.authorization(
                for: handler.id, carried: handler.carriedTokens.latest, inFlight: handler.inFlight, at: now)
        }
        // The first request of a connection is one alone, whatever it could carry.
        let isWarm = handler.connection.hasAnswer
        let filled = handler.fill(from: queue, authorization: own)
        counters.requests += filled.count
        let backlog = isWarm && !queue.isEmpty ? backlogStart : nil
        if let rate = handler.throughput.note(filled.bytes, backlog: backlog, at: now) { demand.carry(rate) }
        // It was its turn to take the new token, and it could not take a push.
        if let own, handler.carriedTokens.latest != own.generation { rollout.gone(handler.id) }
        guard handler.connection.streams.isExhausted, state.phase(of: handler.id) != .draining else { return }
        state.draining(handler.id)
        handler.drain(within: configuration.drain)
    }

    private func decide() {
        // The server was asked, and would choose the same again.
        if state.lastFailure == .otherProtocol, !hasUsableConnection { return failQueue(.otherProtocol) }
        let wanted =
            configuration.countsStreams ? wantedByStreams : demand.wanted(backlog: queue.count * demand.meanSize)
        switch state.decide(waitingSince: queue.waitingSince, wanted: wanted, at: eventLoop.now) {
        case .none: break
        case .connect(let id):
            connect(id)
            // And when it is to be asked next.
            decide()
        case .wait(let until): wake(at: until)
        case .failQueue(let failure): failQueue(failure)
        }
    }

    /// The connections on which everything that is under way or waits has a stream; `nil` before the server has allowed any.
    private var wantedByStreams: Int? {
        let limit = handlers.map(\.handler.streamLimit).max() ?? 0
        guard limit > 0 else { return nil }
        return (handlers.reduce(queue.count) { $0 + $1.handler.inFlight } + limit - 1) / limit
    }

    /// Ends what is not on the wire.
    func failQueue(_ failure: APNsFailure) {
        for ticket in queue.removeAll(where: { _ in true }) { resolve(ticket, .notSent(failure)) }
        for ticket in admission.removeAll(where: { _ in true }) { resolve(ticket, .notSent(failure)) }
    }

    private func connect(_ id: Int) {
        let handler = APNsConnectionHandler(id: id, configuration: configuration.connection, owner: self, now: eventLoop.now)
        handlers.append((id, handler))
        connector.connect(handler).assumeIsolated().whenFailure { [weak handler] error in
            self.connectDetail = (error as? APNsUnreachable)?.description
            // The handler may never have seen the channel; then no other callback reports the failure.
            handler?.close(APNsFailure(connectionError: error, wasReady: false))
        }
    }

    private func wake(at deadline: NIODeadline) {
        if let wakeUp, wakeUp.at <= deadline, wakeUp.at > eventLoop.now { return }
        wakeUp?.timer.cancel()
        wakeUp = (eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.pump() }, deadline)
    }

    /// The header to send now, built once per token; a double optional, because a certificate needs none.
    func currentAuthorization() -> APNsAuthorization?? {
        guard let cache = configuration.tokens else { return .some(nil) }
        do {
            let token = try cache.current()
            if rollout.current?.generation != token.generation {
                rollout.offer(
                    APNsAuthorization(value: token.authorization, generation: token.generation),
                    age: cache.age.map { TimeAmount(clamping: $0) } ?? .zero, at: eventLoop.now)
            }
            return rollout.current
        } catch {
            logger.error("The APNs provider token could not be signed")
            failQueue(.credentialRefused)
            return nil
        }
    }

    // The end of a client, and its numbers.

    /// Takes no more pushes, lets the accepted ones end until the limit, then closes everything. Of several limits the one that ends first holds.
    func stop(within limit: TimeAmount, waiter: CheckedContinuation<Void, Never>?) {
        if let waiter {
            guard !isStopped else { return waiter.resume() }
            stopWaiters.append(waiter)
        }
        let end = eventLoop.now + limit
        guard !isStopped, stopping.map({ end < $0.at }) ?? true else { return }
        stopping?.timer.cancel()
        stopping = (eventLoop.assumeIsolated().scheduleTask(deadline: end) { self.stopNow() }, end)
        guard !state.isStopping else { return }
        admit()
        state.stop()
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
        stopping?.timer.cancel()
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

    /// Publishes the metrics to other threads, once per turn of the loop.
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

/// Makes the channel of a connection. A protocol, so that tests can hand out embedded channels.
protocol APNsConnector {
    /// Connects, with fresh name resolution, and puts `handler` on top of the channel.
    func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel>
}
