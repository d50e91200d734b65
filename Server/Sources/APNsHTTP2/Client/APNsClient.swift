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
    private let shard: APNsClientShard
    /// For pushes to doubtful tokens: a client of one connection, so that their refusals slow down nobody else.
    let quarantine: APNsClient?
    let strictness: APNsPushRules.Strictness
    private let pushDeadline: TimeAmount
    private let drain: TimeAmount

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
        self.quarantine = quarantine
        strictness = configuration.strictness
        pushDeadline = TimeAmount(clamping: configuration.timing.pushDeadline)
        drain = TimeAmount(clamping: configuration.timing.drain)
        shard = APNsClientShard(eventLoop: eventLoop, pool: pool, connector: connector)
    }

    /// What the client has and has done, as of the last turn of its event loop.
    public var metrics: APNsClientMetrics {
        let own = shard.metrics
        return quarantine.map { own.adding($0.metrics) } ?? own
    }

    /// Sends one push and returns how it ended.
    ///
    /// Overtakes the pushes of batches that wait. The caller goes on where it lives: on the executor of the client's event loop,
    /// nothing changes threads.
    public nonisolated(nonsending) func send(_ push: APNsPush) async -> APNsOutcome {
        if push.standing.isDoubtful, let quarantine { return await quarantine.send(push) }
        do throws(APNsPushFault) {
            try APNsPushRules.check(push, strictness)
        } catch {
            return .rejected(error.rejection)
        }
        let submission = PushSubmission(push: push, timeLimit: pushDeadline, shard: shard)
        await end(of: submission)
        return submission.outcome(0) ?? .unknown(.cancelled)
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
        let submission = PushSubmission(
            pushes: pushes, outcomes: outcomesBeforeSending(pushes), lane: lane, timeLimit: pushDeadline, shard: shard)
        if !submission.isComplete { await end(of: submission) }
        return submission.allOutcomes()
    }

    /// Sends a request that is no device push; also hands over what its answer carried.
    func perform(_ request: sending APNsRequest) async -> (outcome: APNsOutcome, channelID: APNsChannel.ID?, body: [UInt8]) {
        let submission = PushSubmission(request: request, timeLimit: pushDeadline, shard: shard)
        await end(of: submission)
        // The event loop let go of the response when it ended the submission.
        return (
            submission.outcome(0) ?? .unknown(.cancelled), submission.response?.channelID, submission.response?.body ?? []
        )
    }

    /// Hands a submission over and returns when all of it has ended. Stays on the caller's actor.
    private func end(of submission: PushSubmission, isolation: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            // A closure runs where it was made only if it holds on to that place.
            _ = isolation
            await submission.end()
        } onCancel: {
            submission.shard?.cancel(submission)
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
        async let others: Void? = quarantine?.shutdown(within: limit)
        await shard.stop(within: limit.map { TimeAmount(clamping: $0) } ?? drain)
        await others
    }

    private enum RunState {
        case running
        case waiting(CheckedContinuation<Void, Never>)
        case cancelled
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
