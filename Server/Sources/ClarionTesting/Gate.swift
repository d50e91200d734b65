import Synchronization

/// Suspends callers while it is closed, and counts them: so a test can say "while these are under way" without a clock.
public final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var held: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    /// Creates a gate, open unless said otherwise.
    public init(isOpen: Bool = true) { state = Mutex(State(isOpen: isOpen)) }

    /// How many have come so far, let through or held.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Suspends callers from now on.
    public func close() { state.withLock { $0.isOpen = false } }

    /// Resumes all callers.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Goes through, as soon as the gate is open.
    public func pass() async {
        await withCheckedContinuation { continuation in
            let (passes, seen) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.held.append(continuation) }
                let seen = state.watchers.filter { $0.count <= state.held.count }
                state.watchers.removeAll { $0.count <= state.held.count }
                return (state.isOpen, seen)
            }
            if passes { continuation.resume() }
            for watcher in seen { watcher.continuation.resume() }
        }
    }

    /// Returns when that many are held up, or the task is cancelled: the time limit of a test ends the wait.
    public func holds(_ count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let isOver = state.held.count >= count || Task.isCancelled
                    if !isOver { state.watchers.append((count, continuation)) }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let watchers = state.withLock { state in
                defer { state.watchers = [] }
                return state.watchers
            }
            for (_, continuation) in watchers { continuation.resume() }
        }
    }
}
