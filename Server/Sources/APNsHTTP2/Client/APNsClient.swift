import APNsProtocol
import Logging
import NIOCore
import NIOSSL
import RichPushModel

/// A client of Apple's push service for one environment and one credential: HTTP/2 over TLS, many pushes in flight, and
/// exactly one outcome for every push within its deadline.
///
/// ```swift
/// try await client.send(push).accepted()       // throws unless APNs took it
/// let outcome = await client.send(push)        // the answer of APNs
/// let outcomes = await client.send(pushes)     // in the order of the pushes; the fast way
/// ```
///
/// Connections are made when there is something to send. Pushes that were provably not processed are sent again by
/// themselves; for all others the outcome says whether a retry may duplicate the push. A client lives on as many event loops as its
/// configuration says, each with connections of its own.
public final class APNsClient: Sendable {
    /// One for each event loop.
    let shards: [APNsClientShard]
    /// For pushes to doubtful tokens: a client of one connection, so that their refusals slow down no other push.
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
    ///   - observer: is called for every request and answer.
    ///   - resolver: finds the addresses of the host before each connection; absent asks the system.
    /// - Throws: what is wrong with the configuration.
    public convenience init(
        configuration: APNsClientConfiguration, eventLoopGroup: any EventLoopGroup, logger: Logger,
        observer: (any APNsClientObserver)? = nil, resolver: (any APNsNameResolver)? = nil
    ) throws(APNsConfigurationFault) {
        try self.init(
            configuration: configuration, tls: nil, eventLoopGroup: eventLoopGroup, logger: logger, observer: observer,
            resolver: resolver)
    }

    /// The same with TLS that was set up before, in place of what the configuration says of it.
    convenience init(
        configuration: APNsClientConfiguration, tls: NIOSSLContext?, eventLoopGroup: any EventLoopGroup, logger: Logger,
        observer: (any APNsClientObserver)? = nil, resolver: (any APNsNameResolver)? = nil
    ) throws(APNsConfigurationFault) {
        guard !configuration.endpoint.host.isEmpty, (1...65_535).contains(configuration.endpoint.port) else { throw .endpoint }
        guard configuration.proxy?.isValid ?? true else { throw .proxy }
        var tls = tls
        if tls == nil, case .tls(let trust) = configuration.transport {
            tls = try NIOSSLContext(apns: trust, credential: configuration.credential)
        }
        let dependencies = APNsClientDependencies(
            tls: tls, resolver: resolver ?? SystemNameResolver(), observer: observer, logger: logger)
        let loops = Self.eventLoops(configuration.eventLoops, of: eventLoopGroup)
        var apart = configuration
        apart.limits.connections = 1
        let quarantine = APNsClient(configuration: apart, shards: [dependencies.shard(apart, on: loops[0])])
        let shards = loops.indices.map { dependencies.shard(configuration, on: loops[$0], number: $0, of: loops.count) }
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
    /// Overtakes the waiting pushes of batches. The caller resumes on its own executor; if that is the client's event loop,
    /// nothing changes threads.
    public nonisolated(nonsending) func send(_ push: APNsPush) async -> APNsOutcome {
        if push.standing.isDoubtful, let quarantine { return await quarantine.send(push) }
        do throws(APNsPushFault) {
            try APNsPushRules.check(push, strictness)
        } catch {
            return .rejected(error.rejection)
        }
        let submission = PushSubmission(push: push, timeLimit: timeLimit, shard: shard(for: push))
        await complete(submission)
        return submission.outcome(0) ?? .unknown(.cancelled)
    }

    /// Sends pushes and returns their outcomes in order. The fast path: no task, lock or hop per push.
    ///
    /// Pushes that do not fit into the queue enter it as it drains, until their deadline; the caller waits meanwhile.
    ///
    /// A push that breaks a rule of APNs is not sent; its outcome is the refusal that APNs would have given. Cancelling the
    /// task ends what is not answered yet: `notSent` if it was not written, else `unknown`.
    ///
    /// - Parameter lane: `express` for a few pushes that a caller waits for.
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
        if !submission.isComplete { await complete(submission) }
        return submission.allOutcomes()
    }

    /// Sends a request that is no device push; also hands over what its answer carried.
    ///
    /// - Parameter limit: how long it may take; absent means as long as a push.
    func perform(
        _ request: sending HTTP2Request, within limit: TimeAmount? = nil
    ) async -> (outcome: APNsOutcome, answer: HTTP2Response.Content) {
        let submission = PushSubmission(request: request, timeLimit: limit ?? timeLimit, shard: shards[0])
        await complete(submission)
        // The event loop let go of the response when it ended the submission.
        return (submission.outcome(0) ?? .unknown(.cancelled), submission.response?.content ?? HTTP2Response.Content())
    }

    /// Hands a submission over and returns when all of it has ended. Stays on the caller's actor.
    private func complete(_ submission: PushSubmission, isolation: isolated (any Actor)? = #isolation) async {
        if let shard = submission.shard, !shard.hasRoom { return shard.turnAway(submission) }
        await withTaskCancellationHandler {
            // A closure runs where it was made only if it holds on to that place.
            _ = isolation
            await submission.waitUntilComplete()
        } onCancel: {
            submission.shard?.cancel(submission)
        }
    }

    /// Keeps the client until the task is cancelled, then ends it in order: no new pushes, and the accepted ones get some time to be
    /// answered.
    ///
    /// - Parameter limit: how much; absent means the configured drain time.
    public func run(drainingWithin limit: Duration? = nil) async {
        // A cancelled sleep ends at once.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        await shutdown(within: limit)
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

    /// The same without waiting for it: the answers still owed get the drain time.
    func beginToShutDown() {
        quarantine?.beginToShutDown()
        for shard in shards { shard.beginToStop(within: drain) }
    }

    /// Reads the pushes in place: an element taken out of an array is copied, which retains five references.
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

    /// Sends one push to all devices that follow a channel, and returns the outcome (Reference/APNs.md#5-3).
    ///
    /// ```swift
    /// let outcome = await client.send(APNsBroadcast(app: "com.example.app", channel: channel.id, payload: update))
    /// ```
    ///
    /// The rules are those of device pushes: one outcome within the deadline, safe resends by themselves. The ids in an
    /// acceptance are `apns-request-id` and `apns-unique-id`.
    public func send(_ broadcast: APNsBroadcast) async -> APNsOutcome {
        do throws(APNsPushFault) {
            try APNsBroadcastRules.check(broadcast, strictness)
        } catch {
            return .rejected(error.rejection)
        }
        return await perform(.broadcast(broadcast)).outcome
    }

    /// Sends doubtful pushes over the separate connection, the likelier ones first, and the others as always.
    private func sendApart(_ pushes: [APNsPush], _ quarantine: APNsClient, _ lane: APNsSendLane) async -> [APNsOutcome] {
        let doubtful = pushes.indices.filter { pushes[$0].standing.isDoubtful }
            .sorted { (pushes[$1].standing, $0) < (pushes[$0].standing, $1) }
        let others = pushes.indices.filter { !pushes[$0].standing.isDoubtful }
        async let apart = quarantine.sendTogether(doubtful.map { pushes[$0] }, lane)
        async let together = sendTogether(others.map { pushes[$0] }, lane)
        var outcomes = Array(repeating: APNsOutcome.notSent(.cancelled), count: pushes.count)
        for (index, outcome) in zip(doubtful, await apart) { outcomes[index] = outcome }
        for (index, outcome) in zip(others, await together) { outcomes[index] = outcome }
        return outcomes
    }

    // How pushes are spread over the event loops of a client.

    /// A batch is split only if each loop gets at least this many: a share costs a task and a copy.
    private static let smallestShare = 64

    /// Where one push goes: to the caller's own loop if the client lives there, else by the last digits of its token. That spreads
    /// evenly, keeps the pushes of a device in order, and callers on many cores share nothing for it, not even a counter.
    private func shard(for push: APNsPush) -> APNsClientShard {
        guard shards.count > 1 else { return shards[0] }
        if let own = shards.first(where: { $0.eventLoop.inEventLoop }) { return own }
        let mixed = push.token.withBytes { digits in
            digits.suffix(8).reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        }
        return shards[Int((mixed >> 32) % UInt64(shards.count))]
    }

    /// Sends a large batch over all loops at the same time, each with an equal share.
    private nonisolated(nonsending) func sendOverAll(_ pushes: [APNsPush], _ lane: APNsSendLane) async -> [APNsOutcome] {
        let count = shards.count
        return await withTaskGroup(of: (Int, [APNsOutcome]).self) { tasks in
            for (number, shard) in shards.enumerated() {
                let share = Array(pushes[(pushes.count * number / count)..<(pushes.count * (number + 1) / count)])
                tasks.addTask { (number, await self.send(share, lane, over: shard)) }
            }
            var shares = [[APNsOutcome]](repeating: [], count: count)
            for await (number, outcomes) in tasks { shares[number] = outcomes }
            return shares.flatMap { $0 }
        }
    }
}

/// What the parts of one client share.
private struct APNsClientDependencies {
    /// Absent for clear text.
    let tls: NIOSSLContext?
    let resolver: any APNsNameResolver
    let observer: (any APNsClientObserver)?
    let logger: Logger

    /// The part of a client on one event loop; with others beside it each gets its share of the limits.
    func shard(
        _ configuration: APNsClientConfiguration, on eventLoop: any EventLoop, number: Int = 0, of count: Int = 1
    ) -> APNsClientShard {
        var own = configuration
        own.limits.connections = max(1, (configuration.limits.connections + count - 1 - number) / count)
        own.limits.queuedPushes = max(1, (configuration.limits.queuedPushes + count - 1 - number) / count)
        return APNsClientShard(
            eventLoop: eventLoop, pool: pool(own, number: number, of: count), connector: connector(own, on: eventLoop))
    }

    private func pool(
        _ configuration: APNsClientConfiguration, number: Int, of count: Int
    ) -> sending APNsPoolConfiguration {
        var pool = APNsPoolConfiguration(configuration, observer: observer, logger: logger)
        if tls != nil { pool.connection.expectedServerName = configuration.endpoint.nameInTLS }
        pool.initialState.number(from: number + 1, by: count)
        return pool
    }

    private func connector(
        _ configuration: APNsClientConfiguration, on eventLoop: any EventLoop
    ) -> sending any APNsConnector {
        APNsSocketConnector(
            eventLoop: eventLoop, configuration: configuration, tls: tls, resolver: resolver, logger: logger)
    }
}
