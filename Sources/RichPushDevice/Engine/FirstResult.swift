/// A value that is settled once: of several answers that race, the first counts and the others are dropped.
actor FirstResult<Value: Sendable> {
    private var settled: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    /// Settles the value; `false` when that had happened before.
    @discardableResult
    func resolve(_ value: Value) -> Bool {
        guard settled == nil else { return false }
        settled = value
        for continuation in waiting { continuation.resume(returning: value) }
        waiting = []
        return true
    }

    /// The value, as soon as it is settled.
    var value: Value {
        get async {
            if let settled { return settled }
            return await withCheckedContinuation { waiting.append($0) }
        }
    }
}
