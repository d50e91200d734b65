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
/// try await client.send(push).accepted()       // throws unless APNs took it
/// let outcome = await client.send(push)        // what APNs said
/// let outcomes = await client.send(pushes)     // in the order of the pushes; the fast way
/// ```
///
/// Connections are made when there is something to send. Pushes that were provably not processed are sent again by
/// themselves; for all others the outcome says whether a repeat may duplicate. A client lives on as many event loops as its
/// configuration says, each with connections of its own.
public final class APNsClient: Sendable {
    /// One for each event loop.
    let shards: [APNsClientShard]
    /// For pushes to doubtful tokens: a client of one connection, so that their refusals slow down nobody else.
    let quarantine: APNsClient?
    let strictness: APNsPushRules.Strictness
    let timeLimit: TimeAmount
    private let drain: TimeAmount
    /// The holder of the provider token; absent with a certificate.
    private let tokens: ProviderTokenCache?

    /// Creates a client. Nothing is connected yet.
    ///
    /// - Parameters:
    ///   - eventLoopGroup: the client takes as many of its loops as the configuration says, and all if there are fewer.
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
        let surroundings = APNsClientSurroundings(
            tls: tls, resolver: resolver ?? SystemNameResolver(), observer: observer, logger: logger)
        let loops = Self.eventLoops(configuration.eventLoops, of: eventLoopGroup)
        var apart = configuration
        apart.limits.connections = 1
        let quarantine = APNsClient(configuration: apart, shards: [surroundings.shard(apart, on: loops[0])])
        let shards = loops.indices.map { surroundings.shard(configuration, on: loops[$0], number: $0, of: loops.count) }
        self.init(configuration: configuration, shards: shards, quarantine: quarantine)
    }

    init(configuration: APNsClientConfiguration, shards: [APNsClientShard], quarantine: APNsClient? = nil) {
        self.shards = shards
        self.quarantine = quarantine
        strictness = configuration.strictness
        timeLimit = TimeAmount(clamping: configuration.timing.timeLimit)
        drain = TimeAmount(clamping: configuration.timing.drain)
        if case .token(let cache) = configuration.credential { tokens = cache } else { tokens = nil }
    }

    private static func eventLoops(_ count: Int, of group: any EventLoopGroup) -> [any EventLoop] {
        // One at a time a group gives its loops out in turn, so that several clients spread over them.
        guard count > 1 else { return [group.next()] }
        let loops = Array(group.makeIterator().prefix(count))
        return loops.isEmpty ? [group.next()] : loops
    }

    /// What the client has and has done, as of the last turn of its event loops; the age of the token as of now.
    public var metrics: APNsClientMetrics {
        let own = shards.dropFirst().reduce(shards[0].metrics) { $0.adding($1.metrics) }
        var metrics = quarantine.map { own.adding($0.metrics) } ?? own
        metrics.tokenAge = tokens?.age
        return metrics
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
        let submission = PushSubmission(push: push, timeLimit: timeLimit, shard: shard(for: push))
        await end(of: submission)
        return submission.outcome(0) ?? .unknown(.cancelled)
    }

    /// Sends pushes and returns how each ended, in their order. The fast way: no task, lock or hop per push.
    ///
    /// More than the queue takes enter it as it drains, until their deadline: what waits is the caller.
    ///
    /// A push that breaks a rule of APNs is not sent; its outcome is the refusal that APNs would have given. Cancelling the
    /// task ends what is not answered yet: `notSent` if it was not written, else `unknown`.
    ///
    /// - Parameter lane: `express` for a few pushes that somebody waits for.
    public nonisolated(nonsending) func send(_ pushes: [APNsPush], lane: APNsSendLane = .bulk) async -> [APNsOutcome] {
        if let quarantine, hasDoubtful(pushes) {
            return await sendApart(pushes, quarantine, lane)
        }
        return await sendTogether(pushes, lane)
    }

    /// Sends pushes over the connections of this client, whatever their standing.
    nonisolated(nonsending) func sendTogether(_ pushes: [APNsPush], _ lane: APNsSendLane) async -> [APNsOutcome] {
        guard let first = pushes.first else { return [] }
        if shards.count > 1, pushes.count >= shards.count * Self.smallestShare { return await sendOverAll(pushes, lane) }
        return await send(pushes, lane, over: shard(for: first))
    }

    nonisolated(nonsending) func send(
        _ pushes: [APNsPush], _ lane: APNsSendLane, over shard: APNsClientShard
    ) async -> [APNsOutcome] {
        let submission = PushSubmission(
            pushes: pushes, outcomes: outcomesBeforeSending(pushes), lane: lane, timeLimit: timeLimit, shard: shard)
        if !submission.isComplete { await end(of: submission) }
        return submission.allOutcomes()
    }

    /// Sends a request that is no device push; also hands over what its answer carried.
    func perform(_ request: sending APNsChannelRequest) async -> (outcome: APNsOutcome, channelID: APNsChannel.ID?, body: [UInt8])
    {
        let submission = PushSubmission(request: request, timeLimit: timeLimit, shard: shards[0])
        await end(of: submission)
        // The event loop let go of the response when it ended the submission.
        return (
            submission.outcome(0) ?? .unknown(.cancelled), submission.response?.channelID, submission.response?.body ?? []
        )
    }

    /// Hands a submission over and returns when all of it has ended. Stays on the caller's actor.
    private func end(of submission: PushSubmission, isolation: isolated (any Actor)? = #isolation) async {
        if let shard = submission.shard, !shard.hasRoom { return shard.turnAway(submission) }
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
        let limit = limit.map { TimeAmount(clamping: $0) } ?? drain
        await withTaskGroup { tasks in
            for shard in shards { tasks.addTask { await shard.stop(within: limit) } }
        }
        await others
    }

    private enum RunState {
        case running
        case waiting(CheckedContinuation<Void, Never>)
        case cancelled
    }

    /// Looks at the pushes where they lie: an element taken out of an array is copied, which counts five references.
    private func hasDoubtful(_ pushes: [APNsPush]) -> Bool {
        pushes.withUnsafeBufferPointer { pushes in pushes.indices.contains { pushes[$0].standing.isDoubtful } }
    }

    private func outcomesBeforeSending(_ pushes: [APNsPush]) -> [APNsOutcome?] {
        var rules = APNsPushRules(strictness: strictness)
        return pushes.withUnsafeBufferPointer { pushes in
            guard let first = pushes.baseAddress else { return [] }
            return pushes.indices.map { index in
                do throws(APNsPushFault) {
                    try rules.check(at: first + index)
                    return nil
                } catch {
                    return .rejected(error.rejection)
                }
            }
        }
    }
}
