import APNsProtocol
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import RichPushModel

/// A client of Apple's push service for one environment and one credential: HTTP/2 over TLS, many pushes in flight, and
/// exactly one outcome for every push within its deadline.
///
/// ```swift
/// let outcomes = await client.send(pushes)     // in the order of the pushes; the fast way
/// ```
///
/// Connections are made when there is something to send. Pushes that were provably not processed are sent again by
/// themselves; for all others the outcome says whether a repeat may duplicate. One client lives on one event loop; for
/// more throughput than one core gives, make several.
public final class APNsClient: Sendable {
    private let eventLoop: any EventLoop
    private let pool: NIOLoopBoundBox<APNsConnectionPool>
    /// For pushes to doubtful tokens: a client of one connection, so that their refusals slow down nobody else.
    let quarantine: APNsClient?
    let strictness: APNsPushRules.Strictness
    private let pushDeadline: TimeAmount
    private let drain: TimeAmount
    private let numbers: NIOLockedValueBox<APNsClientMetrics>
    /// What was handed over from other threads and not yet taken by the event loop, so that many calls wake it once.
    private let inbox = NIOLockedValueBox<[PushSubmission]>([])

    /// Creates a client. Nothing is connected yet.
    ///
    /// - Parameters:
    ///   - eventLoopGroup: the client takes one loop of it.
    ///   - observer: is told of every request and answer.
    ///   - resolver: finds the addresses of the host before each connection; absent asks the system.
    /// - Throws: what is wrong with the configuration.
    public convenience init(
        configuration: APNsClientConfiguration, eventLoopGroup: any EventLoopGroup, logger: Logger,
        observer: (any APNsClientObserver)? = nil, resolver: (any APNsNameResolver)? = nil
    ) throws(APNsConfigurationFault) {
        guard !configuration.endpoint.host.isEmpty, (1...65_535).contains(configuration.endpoint.port) else { throw .endpoint }
        guard configuration.proxy?.isValid ?? true else { throw .proxy }
        var tls: NIOSSLContext?
        if case .tls(let trust) = configuration.transport {
            tls = try NIOSSLContext(apns: trust, credential: configuration.credential)
        }
        let eventLoop = eventLoopGroup.next()
        let surroundings = APNsClientSurroundings(
            eventLoop: eventLoop, tls: tls, resolver: resolver ?? SystemNameResolver(), observer: observer, logger: logger)
        var apart = configuration
        apart.limits.connections = 1
        let quarantine = APNsClient(
            configuration: apart, eventLoop: eventLoop, pool: surroundings.pool(apart), connector: surroundings.connector(apart))
        self.init(
            configuration: configuration, eventLoop: eventLoop, pool: surroundings.pool(configuration),
            connector: surroundings.connector(configuration), quarantine: quarantine)
    }

    init(
        configuration: APNsClientConfiguration, eventLoop: any EventLoop, pool: sending APNsPoolConfiguration,
        connector: sending any APNsConnector, quarantine: APNsClient? = nil
    ) {
        self.eventLoop = eventLoop
        self.quarantine = quarantine
        numbers = NIOLockedValueBox(APNsClientMetrics())
        strictness = configuration.strictness
        pushDeadline = TimeAmount(clamping: configuration.timing.pushDeadline)
        drain = TimeAmount(clamping: configuration.timing.drain)
        self.pool = NIOLoopBoundBox.makeBoxSendingValue(
            APNsConnectionPool(eventLoop: eventLoop, configuration: pool, connector: connector, metrics: numbers),
            eventLoop: eventLoop)
    }

    /// What the client has and has done, as of the last turn of its event loop.
    public var metrics: APNsClientMetrics {
        let own = numbers.withLockedValue { $0 }
        return quarantine.map { own.adding($0.metrics) } ?? own
    }

    /// Sends one push and returns how it ended.
    ///
    /// Overtakes the pushes of batches that wait. Runs where the caller runs: on the executor of the client's event loop,
    /// nothing changes threads.
    public nonisolated(nonsending) func send(_ push: APNsPush) async -> APNsOutcome {
        await send([push], lane: .express).first ?? .notSent(.cancelled)
    }

    /// Sends pushes and returns how each ended, in their order. The fast way: no task, lock or hop per push.
    ///
    /// A push that breaks a rule of APNs is not sent; its outcome is the refusal that APNs would have given. Cancelling the
    /// task ends what is not answered yet: `notSent` if it was not written, else `unknown`.
    ///
    /// - Parameter lane: `express` for a few pushes that somebody waits for.
    public nonisolated(nonsending) func send(_ pushes: [APNsPush], lane: APNsSendLane = .bulk) async -> [APNsOutcome] {
        if let quarantine, pushes.contains(where: { $0.standing.isDoubtful }) {
            return await sendApart(pushes, quarantine, lane)
        }
        return await sendTogether(pushes, lane)
    }

    /// Sends pushes over the connections of this client, whatever their standing.
    nonisolated(nonsending) func sendTogether(_ pushes: [APNsPush], _ lane: APNsSendLane) async -> [APNsOutcome] {
        guard !pushes.isEmpty else { return [] }
        let now = eventLoop.now
        let submission = PushSubmission(
            pushes: pushes, outcomes: outcomesBeforeSending(pushes), lane: lane, start: now, deadline: now + pushDeadline)
        return await perform(submission)
    }

    /// Sends a request that is no device push; also hands over what its answer carried.
    func perform(_ request: APNsRequest) async -> (outcome: APNsOutcome, channelID: APNsChannel.ID?, body: [UInt8]) {
        let now = eventLoop.now
        let submission = PushSubmission(request: request, start: now, deadline: now + pushDeadline)
        let outcome = await perform(submission).first ?? .notSent(.cancelled)
        // The event loop let go of the response when it ended the submission.
        return (outcome, submission.response?.channelID, submission.response?.body ?? [])
    }

    /// Stays on the caller's actor, so that callers on the event loop do not change threads.
    private func perform(
        _ submission: PushSubmission, isolation: isolated (any Actor)? = #isolation
    ) async -> [APNsOutcome] {
        let pool = pool
        return await withTaskCancellationHandler {
            // A closure runs where it was made only if it holds on to that place.
            _ = isolation
            return await withUnsafeContinuation { continuation in
                submission.attach(continuation)
                // From here on the submission belongs to the event loop.
                if !submission.isComplete { handOver(submission) }
            }
        } onCancel: {
            onLoop { pool.value.cancel(submission) }
        }
    }

    private func handOver(_ submission: PushSubmission) {
        let pool = pool
        if eventLoop.inEventLoop { return pool.value.submit(submission) }
        let isFirst = inbox.withLockedValue { inbox in
            inbox.append(submission)
            return inbox.count == 1
        }
        guard isFirst else { return }
        let inbox = inbox
        eventLoop.execute {
            let submissions = inbox.withLockedValue { inbox in
                defer { inbox = [] }
                return inbox
            }
            for submission in submissions { pool.value.submit(submission) }
        }
    }

    /// Keeps the client until the task is cancelled, then ends it in order: no new pushes, and the accepted ones get the
    /// drain time to be answered.
    public func run() async {
        let waiting = NIOLockedValueBox<RunState>(.running)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = waiting.withLockedValue { state in
                    if case .cancelled = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let continuation = waiting.withLockedValue { state in
                defer { state = .cancelled }
                if case .waiting(let continuation) = state { return Optional(continuation) }
                return nil
            }
            continuation?.resume()
        }
        await shutdown()
    }

    /// Ends the client in order. Returns when every push has its outcome and every connection is closed.
    ///
    /// - Parameter limit: for the answers still owed; absent means the configured drain time.
    public func shutdown(within limit: Duration? = nil) async {
        let pool = pool
        async let others: Void? = quarantine?.shutdown(within: limit)
        let limit = limit.map { TimeAmount(clamping: $0) } ?? drain
        await withCheckedContinuation { continuation in
            onLoop { pool.value.stop(within: limit, waiter: continuation) }
        }
        await others
    }

    private enum RunState {
        case running
        case waiting(CheckedContinuation<Void, Never>)
        case cancelled
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }

    private func outcomesBeforeSending(_ pushes: [APNsPush]) -> [APNsOutcome?] {
        var rules = APNsPushRules(strictness: strictness)
        return pushes.map { push in
            do throws(APNsPushFault) {
                try rules.check(push)
                return nil
            } catch {
                return .rejected(error.rejection)
            }
        }
    }
}
