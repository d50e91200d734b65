import APNsProtocol

extension LocalAPNs {
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
        let (misdeeds, repeats) = core.state.withLockedValue { ($0.misdeeds, $0.recorder.repeats) }
        let connections = Array(core.traffic.statistics.values)
        let seen: [ClientComplaint.Kind: Int] = [
            .sentPriorityFrames: connections.reduce(0) { $0 + ($1.received["PRIORITY"] ?? 0) },
            .indexedPaths: Self.inserted(":path", allowed: 0, connections),
            .indexedMessageIDs: Self.inserted("apns-id", allowed: 1, connections),
            .repeatedAuthorization: Self.inserted("authorization", allowed: providerTokens, connections),
            .repeatedAcceptedPushes: repeats,
        ]
        return ClientComplaint.Kind.allCases.compactMap { kind in
            let count = seen[kind] ?? misdeeds[kind] ?? 0
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
            state.misdeeds.removeAll()
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
}
