/// A value that is settled once: of several answers that race, the first counts and the others are dropped. What stands between
/// a system callback that must be answered exactly once and the work and the deadline that both want to answer it.
public actor FirstResult<Value: Sendable> {
    private var settled: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    /// Creates an unsettled value.
    public init() {}

    /// Settles the value; `false` when that had happened before.
    @discardableResult
    public func resolve(_ value: Value) -> Bool {
        guard settled == nil else { return false }
        settled = value
        for continuation in waiting { continuation.resume(returning: value) }
        waiting = []
        return true
    }

    /// The value, as soon as it is settled.
    public var value: Value {
        get async {
            if let settled { return settled }
            return await withCheckedContinuation { waiting.append($0) }
        }
    }
}
