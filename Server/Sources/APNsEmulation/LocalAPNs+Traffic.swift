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
    /// if the retention keeps frames, and answers only as far as exchanges are kept.
    public var complaints: [ClientComplaint] {
        let (exchanges, acceptances) = core.state.withLockedValue { ($0.recorder.recorded, $0.recorder.acceptances) }
        let connections = Array(core.traffic.statistics.values)
        let counts: [(ClientComplaint.Kind, Int)] = [
            (.sentPriorityFrames, connections.reduce(0) { $0 + ($1.received["PRIORITY"] ?? 0) }),
            (.exceededStreamLimit, core.state.withLockedValue { $0.streamsBeyondLimit }),
            (.overranWindow, core.state.withLockedValue { $0.windowsOverrun }),
            (.indexedPaths, Self.inserted(":path", allowed: 0, connections)),
            (.indexedMessageIDs, Self.inserted("apns-id", allowed: 1, connections)),
            (.repeatedAuthorization, Self.inserted("authorization", allowed: providerTokens, connections)),
            (.changedProviderTokenTooOften, exchanges.count { $0.answer?.reason == .tooManyProviderTokenUpdates }),
            (.repeatedAcceptedPushes, acceptances.values.reduce(0) { $0 + Int($1) - 1 }),
        ]
        return counts.filter { $0.1 > 0 }.map { ClientComplaint(kind: $0.0, count: $0.1) }
    }

    /// How many different provider tokens came, at least one.
    private var providerTokens: Int { core.state.withLockedValue { max(1, $0.authorizations.count) } }

    private static func inserted(_ name: String, allowed: Int, _ connections: [TrafficStatistics]) -> Int {
        connections.reduce(0) { $0 + max(0, ($1.headers.insertedNames[name] ?? 0) - allowed) }
    }
}
