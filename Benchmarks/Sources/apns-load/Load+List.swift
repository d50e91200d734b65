import APNsProtocol

/// A push to each device token of a file.
extension Load {
    /// As many callers as keep the window full, each with a part of the list. A batch of one is an await for each push.
    func sendList() async -> LoadResult {
        let callers = options.batch == 1 ? options.window : max(2, 2 * options.window / options.batch)
        let part = max(1, (tokens.count + callers - 1) / callers)
        return await withTaskGroup(of: LoadResult.self) { group in
            for start in stride(from: 0, to: tokens.count, by: part) {
                group.addTask { await send(start..<min(start + part, tokens.count)) }
            }
            return await group.reduce(into: LoadResult()) { $0.add($1) }
        }
    }

    private func send(_ part: Range<Int>) async -> LoadResult {
        var result = LoadResult()
        for start in stride(from: part.lowerBound, to: part.upperBound, by: options.batch) {
            let began = ContinuousClock.now
            if options.batch == 1 {
                result.add(await client.send(push(start)))
            } else {
                result.add(await client.send((start..<min(start + options.batch, part.upperBound)).map(push)))
            }
            result.latency.add(began.duration(to: .now))
        }
        return result
    }
}
