/// Blocks its callers until it is opened and ignores cancellation: a stuck network.
actor Gate {
    var isWaitedAt: Bool { !waiting.isEmpty }
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

/// The value of a task that ends; `nil` if it does not.
func ended<Value: Sendable>(_ task: Task<Value, Never>) async -> Value? {
    let value = Locked<Value?>(nil)
    Task {
        let result = await task.value
        value.with { $0 = result }
    }
    _ = await eventually { value.with { $0 != nil } }
    return value.with { $0 }
}

/// Gives other tasks their turn for a while.
func settle() async { for _ in 0..<5_000 { await Task.yield() } }

/// Gives other tasks their turn until something has happened; `false` if it does not.
func eventually(_ condition: @Sendable () async -> Bool) async -> Bool {
    // Turns alone pass quickly while something else has the processor.
    let end = ContinuousClock.now + .seconds(20)
    var turns = 0
    while turns < 200_000 || ContinuousClock.now < end {
        if await condition() { return true }
        await Task.yield()
        turns += 1
    }
    return false
}
