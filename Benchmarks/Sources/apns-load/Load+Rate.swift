import APNsProtocol

/// An offered rate, on as many connections as the client opens by itself.
extension Load {
    private static let tick = Duration.milliseconds(10)

    /// Offers the share of each tick as one batch, and does not wait for its outcomes before the next tick.
    func sendAtRate() async -> LoadResult {
        let ticks = options.seconds * 100
        let share = max(1, options.rate / 100)
        return await withTaskGroup(of: LoadResult.self) { group in
            let start = ContinuousClock.now
            var mostConnections = 0
            var steady = (accepted: 0, since: start)
            for tick in 0..<ticks {
                try? await ContinuousClock().sleep(until: start + Self.tick * tick)
                let pushes = (0..<share).map { push(tick * share + $0) }
                group.addTask { await sendTick(pushes) }
                let metrics = client.metrics
                mostConnections = max(mostConnections, metrics.connections)
                if tick == ticks / 2 { steady = (metrics.accepted, .now) }
            }
            let metrics = client.metrics
            let rate = Double(metrics.accepted - steady.accepted) / (steady.since.duration(to: .now) / .seconds(1))
            var result = await group.reduce(into: LoadResult()) { $0.add($1) }
            result.mostConnections = mostConnections
            result.steadyRate = rate
            return result
        }
    }

    private func sendTick(_ pushes: [APNsPush]) async -> LoadResult {
        var result = LoadResult()
        let start = ContinuousClock.now
        result.add(await client.send(pushes))
        result.latency.add(start.duration(to: .now))
        return result
    }
}
