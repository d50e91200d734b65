import Synchronization

/// A caller who waits for an answer and gets one, the first that comes.
final class WaitingCaller<Result: Sendable>: Sendable {
    private enum State {
        case expected
        case waiting(CheckedContinuation<Result, any Error>)
        case answered(Swift.Result<Result, any Error>)
        case over
    }

    private let state = Mutex(State.expected)

    /// Begins to wait.
    func wait(_ continuation: CheckedContinuation<Result, any Error>) {
        let early = state.withLock { state -> Swift.Result<Result, any Error>? in
            guard case .answered(let answer) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .over
            return answer
        }
        if let early { continuation.resume(with: early) }
    }

    /// Answers, if nobody has.
    func answer(_ answer: Swift.Result<Result, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Result, any Error>? in
            switch state {
            case .expected:
                state = .answered(answer)
                return nil
            case .waiting(let continuation):
                state = .over
                return continuation
            case .answered, .over: return nil
            }
        }
        waiting?.resume(with: answer)
    }
}
