import APNsProtocol

/// How pushes are spread over the event loops of a client.
extension APNsClient {
    /// A batch is split only if each loop gets at least this many: a share costs a task and a copy.
    static let smallestShare = 64

    /// Where one push goes: to the caller's own loop if the client lives there, else by the last digits of its token. That spreads
    /// evenly, keeps the pushes of a device in order, and callers on many cores share nothing for it, not even a counter.
    func shard(for push: APNsPush) -> APNsClientShard {
        guard shards.count > 1 else { return shards[0] }
        if let own = shards.first(where: { $0.eventLoop.inEventLoop }) { return own }
        let mixed = push.token.withBytes { digits in
            digits.suffix(8).reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        }
        return shards[Int((mixed >> 32) % UInt64(shards.count))]
    }

    /// Sends a large batch over all loops at the same time, each with an equal share.
    nonisolated(nonsending) func sendOverAll(_ pushes: [APNsPush], _ lane: APNsSendLane) async -> [APNsOutcome] {
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
