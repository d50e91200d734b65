import APNsProtocol
import PushHub

/// A batch of the hub, sorted by environment and in the words of the client. Bodies are shared, not copied.
struct APNsBatchGroups {
    struct Group {
        let environment: APNsEnvironment
        /// Positions in the batch, parallel to `pushes`.
        var targets: [Int] = []
        var pushes: [APNsPush] = []
    }

    private(set) var groups: [Group] = []
    /// What is said of targets that cannot be sent to at all, by their positions.
    private(set) var decided: [Int: PushOutcome] = [:]

    init(_ batch: PushBatch, defaultEnvironment: APNsEnvironment, defaultTopic: String) {
        let headers = batch.headers.map { APNsPush.Headers($0, defaultTopic: defaultTopic) }
        for run in batch.targets.runs {
            guard let environment = Self.environment(run.environment, default: defaultEnvironment) else {
                for position in run.positions { decided[position] = .unsupported }
                continue
            }
            guard headers.indices.contains(run.headers), batch.bodies.indices.contains(run.body) else {
                for position in run.positions {
                    decided[position] = .rejected(reason: "the batch has no such body or header set")
                }
                continue
            }
            append(run.positions, of: batch.targets, headers[run.headers], batch.bodies[run.body], to: environment)
        }
    }

    private mutating func append(
        _ positions: Range<Int>, of targets: PushTargets, _ headers: APNsPush.Headers, _ payload: [UInt8],
        to environment: APNsEnvironment
    ) {
        let index = place(of: environment, capacity: targets.count)
        groups[index].targets.append(contentsOf: positions)
        let bytes = targets.bytes
        for position in positions {
            groups[index].pushes.append(
                APNsPush(
                    token: APNsDeviceToken(in: bytes, at: targets.token(at: position)), headers: headers, payload: payload,
                    apnsID: targets.pushID(at: position).uuid))
        }
    }

    private mutating func place(of environment: APNsEnvironment, capacity: Int) -> Int {
        if let known = groups.firstIndex(where: { $0.environment == environment }) { return known }
        var group = Group(environment: environment)
        group.targets.reserveCapacity(capacity)
        group.pushes.reserveCapacity(capacity)
        groups.append(group)
        return groups.count - 1
    }

    /// Marks the pushes to tokens that were refused not long ago.
    mutating func mark(_ refused: RefusedTokens) {
        for index in groups.indices {
            guard let isRefused = refused.contains(groups[index].pushes.lazy.map(\.token)) else { continue }
            for (position, isRefused) in isRefused.enumerated() where isRefused {
                groups[index].pushes[position].standing = .suspect
            }
        }
    }

    /// Whether a target's push is of the kind that every app gets: with the transport's own topic, and of a type whose topic is
    /// the bare bundle id (Reference/APNs.md#3-2).
    func isOrdinary(_ position: Int, in batch: PushBatch, _ defaultTopic: String) -> Bool {
        let set = batch.targets.run(of: position).headers
        guard batch.headers.indices.contains(set) else { return true }
        let headers = batch.headers[set]
        return (headers.topic ?? defaultTopic) == defaultTopic && ["alert", "background"].contains(headers.pushType)
    }

    private static func environment(_ word: String?, default environment: APNsEnvironment) -> APNsEnvironment? {
        guard let word else { return environment }
        return APNsEnvironment(rawValue: word)
    }
}

extension APNsPush.Headers {
    /// The header set of the hub in the words of the client.
    init(_ headers: PushBatch.Headers, defaultTopic: String) {
        let pushType = APNsPushType(rawValue: headers.pushType)
        self.init(
            topic: pushType.topic(of: headers.topic ?? defaultTopic), pushType: pushType,
            priority: headers.priority, expiration: headers.expiration, collapseID: headers.collapseID)
    }
}
