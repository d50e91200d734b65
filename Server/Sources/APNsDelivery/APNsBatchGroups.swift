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
    /// One place for each target; filled where the target cannot be sent at all.
    private(set) var decided: [PushOutcome?]

    init(_ batch: PushBatch, defaultEnvironment: APNsEnvironment, defaultTopic: String) {
        decided = Array(repeating: nil, count: batch.targets.count)
        let headers = batch.headers.map { APNsPush.Headers($0, defaultTopic: defaultTopic) }
        // Of the target before, which mostly is that of the next.
        var known = (word: String?.none, environment: APNsEnvironment?.some(defaultEnvironment))
        batch.targets.withUnsafeBufferPointer { targets in
            // By its fields: a copy of a whole target costs several counts of references.
            for position in targets.indices {
                if known.word != targets[position].environment {
                    known.word = targets[position].environment
                    known.environment = Self.environment(known.word, default: defaultEnvironment)
                }
                guard let environment = known.environment else {
                    decided[position] = .unsupported
                    continue
                }
                let (head, body) = (targets[position].headers, targets[position].body)
                guard headers.indices.contains(head), batch.bodies.indices.contains(body) else {
                    decided[position] = .rejected(reason: "the batch has no such body or header set")
                    continue
                }
                let push = APNsPush(
                    deviceToken: targets[position].handle.text, headers: headers[head], payload: batch.bodies[body],
                    apnsID: targets[position].pushID.uuid)
                append(push, at: position, to: environment)
            }
        }
    }

    private mutating func append(_ push: APNsPush, at position: Int, to environment: APNsEnvironment) {
        let index =
            groups.firstIndex { $0.environment == environment }
            ?? {
                groups.append(Group(environment: environment))
                groups[groups.count - 1].targets.reserveCapacity(decided.count)
                groups[groups.count - 1].pushes.reserveCapacity(decided.count)
                return groups.count - 1
            }()
        groups[index].targets.append(position)
        groups[index].pushes.append(push)
    }

    /// Marks the pushes to tokens that were refused not long ago.
    mutating func mark(_ refused: RefusedTokens) {
        for index in groups.indices {
            guard let isRefused = refused.contains(groups[index].pushes.lazy.map(\.deviceToken)) else { continue }
            for (position, isRefused) in isRefused.enumerated() where isRefused {
                groups[index].pushes[position].standing = .suspect
            }
        }
    }

    /// Whether a target's push is of the kind that every app gets: with the transport's own topic, and of a type whose topic is
    /// the bare bundle id (APNs reference 3.2).
    func isOrdinary(_ target: PushBatch.Target, in batch: PushBatch, _ defaultTopic: String) -> Bool {
        guard batch.headers.indices.contains(target.headers) else { return true }
        let headers = batch.headers[target.headers]
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
        self.init(
            topic: headers.topic ?? defaultTopic, pushType: APNsPushType(rawValue: headers.pushType),
            priority: headers.priority, expiration: headers.expiration, collapseID: headers.collapseID)
    }
}
