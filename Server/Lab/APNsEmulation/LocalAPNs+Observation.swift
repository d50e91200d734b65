import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LocalAPNs {
    /// Every request from now on, with its answer. Each reading of this property is a subscription of its own.
    public var exchanges: AsyncStream<APNsExchange> { core.observe() }

    /// What becomes from now on of accepted pushes that do not go to their device at once: that one is kept, takes another's
    /// place, expires. Each reading of this property is a subscription of its own.
    public var fates: AsyncStream<PushFate> { core.observeFates() }

    /// The newest requests, oldest first, as many as the retention allows.
    public var recordedExchanges: [APNsExchange] { core.state.withLockedValue { $0.recorder.recorded } }

    /// How often a device token was addressed; zero for a token that was never issued.
    public func requests(for token: String) -> RequestCounts {
        core.state.withLockedValue { $0.tokens.counts(of: token) }
    }

    /// The device that a token was issued to; `nil` for a token that was never issued.
    public func device(of token: String) -> String? {
        core.state.withLockedValue { $0.tokens[token.lowercased()]?.device }
    }

    /// How often each `apns-id` was accepted: more than 1 is a repeat.
    public var acceptanceCounts: [UUID: Int] { core.state.withLockedValue { $0.recorder.acceptances.mapValues(Int.init) } }

    /// How often this `apns-id` was accepted.
    public func acceptances(of apnsID: UUID) -> Int {
        core.state.withLockedValue { Int($0.recorder.acceptances[apnsID] ?? 0) }
    }

    /// What became of the push with this `apns-unique-id`; `nil` if it was never accepted or is no longer remembered.
    public func delivery(uniqueID: UUID) -> DeliveryRecord? {
        deliveries(uniqueID: uniqueID).first
    }

    /// What became of a broadcast, an entry for each device; of a push to a device token there is one at most.
    public func deliveries(uniqueID: UUID) -> [DeliveryRecord] {
        core.state.withLockedValue { $0.log.records(of: uniqueID) }
    }

    /// The delivery log, oldest first.
    public var deliveries: [DeliveryRecord] { core.state.withLockedValue { $0.log.records } }

    /// The newest frames of all connections, oldest first; empty unless the retention keeps frames.
    public var recordedFrames: [FrameRecord] { core.traffic.frames }

    /// The frames of each connection, counted, by its number; empty unless the retention keeps frames.
    public var trafficByConnection: [Int: TrafficStatistics] { core.traffic.statistics }

    /// The frames of all connections, counted.
    public var traffic: TrafficStatistics {
        core.traffic.statistics.values.reduce(into: TrafficStatistics()) { $0.add($1) }
    }

    /// What the clients did that a good client does not do. A test asserts that it is empty. What lies in frames is seen only
    /// if the retention keeps frames.
    public var complaints: [ClientComplaint] {
        let (violations, repeatedAcceptances) = core.state.withLockedValue { ($0.violations, $0.recorder.repeatedAcceptances) }
        let connections = Array(core.traffic.statistics.values)
        let seen: [ClientComplaint.Kind: Int] = [
            .sentPriorityFrames: connections.reduce(0) { $0 + ($1.received["PRIORITY"] ?? 0) },
            .indexedPaths: Self.inserted(":path", allowed: 0, connections),
            .indexedMessageIDs: Self.inserted("apns-id", allowed: 1, connections),
            .repeatedAuthorization: Self.inserted("authorization", allowed: providerTokens, connections),
            .repeatedAcceptedPushes: repeatedAcceptances,
        ]
        return ClientComplaint.Kind.allCases.compactMap { kind in
            let count = seen[kind] ?? violations[kind] ?? 0
            return count > 0 ? ClientComplaint(kind: kind, count: count) : nil
        }
    }

    /// How many different provider tokens came, at least one.
    private var providerTokens: Int { core.state.withLockedValue { max(1, $0.authorizations.count) } }

    private static func inserted(_ name: String, allowed: Int, _ connections: [TrafficStatistics]) -> Int {
        connections.reduce(0) { $0 + max(0, ($1.headers.insertedNames[name] ?? 0) - allowed) }
    }

    /// Forgets every complaint, and the counts of frames and of repeated ids that some are drawn from.
    public func clearComplaints() {
        core.state.withLockedValue { state in
            state.violations.removeAll()
            state.authorizations.removeAll()
            state.recorder.clearAcceptances()
        }
        core.traffic.clearStatistics()
    }

    /// Forgets the newest requests.
    public func clearRequests() { core.state.withLockedValue { $0.recorder.clear() } }

    /// Forgets the newest frames.
    public func clearFrames() { core.traffic.clearFrames() }

    /// Forgets what became of accepted pushes. One that still waits begins a new entry when its state changes.
    public func clearDeliveries() { core.state.withLockedValue { $0.log.clear() } }

    /// Injects a fault into the next `count` requests that pass every check, after `skip` that are left alone.
    ///
    /// Faults apply in the order of their injection; one with a `token` applies to requests to that device token only.
    public func inject(_ fault: InjectedFault, count: Int = 1, afterRequests skip: Int = 0, token: String? = nil) {
        core.state.withLockedValue { $0.faults.add(fault, count: count, skip: skip, every: nil, token: token?.lowercased()) }
    }

    /// Injects a fault into every `period`th request that passes every check, until `clearFaults`.
    public func inject(_ fault: InjectedFault, everyRequests period: Int, token: String? = nil) {
        core.state.withLockedValue { state in
            state.faults.add(fault, count: .max, skip: period - 1, every: max(1, period), token: token?.lowercased())
        }
    }

    /// Removes every fault that has affected no request yet.
    public func clearFaults() { core.state.withLockedValue { $0.faults.removeAll() } }

    /// Sends GOAWAY with this reason on every connection now and closes them when their requests are answered.
    public func goAway(reason: APNsReason?) async { await command(.goAway(reason: reason)) }

    /// The graceful form in two steps: GOAWAY that names no last stream, a pause in which everything is still served, then
    /// GOAWAY with the real last stream and this reason.
    public func goAway(reason: APNsReason?, pause: Duration) async {
        await command(.goAwayInTwoSteps(reason: reason, pause: pause))
    }

    /// Resets every connection now.
    public func resetConnections() async { await command(.reset) }

    /// Ends every connection now, in order but without GOAWAY.
    public func dropConnections() async { await command(.drop) }

    /// Every connection reads on and answers nothing more; PING is still acknowledged.
    public func wedgeConnections() async { await command(.wedge) }

    /// Every connection stays open and reads nothing more.
    public func blackHoleConnections() async { await command(.stopReading) }

    /// Announces this limit of streams on every connection now.
    public func announce(streamLimit: Int) async { await announce(SettingsChange(streams: streamLimit)) }

    /// Announces these settings on every connection now.
    public func announce(_ change: SettingsChange) async { await command(.announce(change)) }

    /// From now on every provider token minted before `moment` is answered `ExpiredProviderToken`, whatever its age; `nil`
    /// takes that back.
    public func expireProviderTokens(issuedBefore moment: Int64?) {
        core.state.withLockedValue { $0.tokensRecalledBefore = moment }
    }

    /// The rules as they are now. A change holds at once, for what is said of new connections from the next one on.
    public var rules: EmulationRules {
        get { core.rules }
        set { core.state.withLockedValue { $0.rules = newValue } }
    }

    /// Changes rules atomically.
    public func changeRules(_ change: (inout EmulationRules) throws -> Void) rethrows {
        try core.state.withLockedValue { try change(&$0.rules) }
    }

    /// Returns when every connection has carried the command out, so that requests sent afterwards see its effect.
    private func command(_ command: ConnectionCommand) async {
        for listener in listeners { await listener.command(command) }
    }
}
