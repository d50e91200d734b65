/// Gives other tasks their turn until something has happened; `false` if it does not.
public func eventually(_ condition: @Sendable () async -> Bool) async -> Bool {
    // Turns alone pass quickly while a slow disk keeps what is waited for.
    let end = ContinuousClock.now + .seconds(20)
    var turns = 0
    while turns < 200_000 || ContinuousClock.now < end {
        if await condition() { return true }
        await Task.yield()
        turns += 1
    }
    return false
}
