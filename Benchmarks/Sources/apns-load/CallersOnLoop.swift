import NIOCore

/// Callers that live on the client's event loop, as a service does that keeps its state there.
actor CallersOnLoop {
    private let load: Load
    private nonisolated let executor: any SerialExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(load: Load, loop: any EventLoop) {
        self.load = load
        executor = loop.executor
    }

    nonisolated func send() async -> LoadResult {
        await withTaskGroup(of: LoadResult.self) { group in
            for caller in 0..<max(1, load.options.window / load.loops.count) {
                group.addTask { await self.sendShare(of: caller) }
            }
            return await group.reduce(into: LoadResult()) { $0.add($1) }
        }
    }

    private func sendShare(of caller: Int) async -> LoadResult {
        let push = load.push(caller)
        var result = LoadResult()
        for _ in 0..<max(1, load.options.count / load.options.window) {
            let start = ContinuousClock.now
            result.add(await load.client.send(push))
            result.latency.add(start.duration(to: .now))
        }
        return result
    }
}
