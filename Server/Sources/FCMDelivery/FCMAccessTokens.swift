import FCMProtocol
import PushHub
import RichPushModel
import Synchronization

/// The access token of one service account (Reference/FCM.md#1-3): fetched once for all pushes, renewed before its end, and dropped when FCM
/// refuses it.
///
/// One caller fetches, and the others wait for it, or go on with a token that still holds. When that caller is cancelled, another takes over.
final class FCMAccessTokens: Sendable {
    /// A token in use.
    struct Held: Sendable {
        /// The headers of a message that is sent with it.
        let headers: [(name: String, value: String)]
        /// Counts the tokens of the account.
        let number: Int
        fileprivate let renewAt: Duration
        fileprivate let endsAt: Duration
    }

    /// How long before its end a token is renewed; a shorter-lived one at half of its life.
    static let renewal: Duration = .seconds(300)
    private static let transient = BackOff(base: .seconds(1), cap: .seconds(60))
    /// What an operator has to correct is asked for less often.
    private static let permanent = BackOff(base: .seconds(30), cap: .seconds(300))

    private struct State {
        var held: Held?
        var fetched = 0
        /// The last failures in a row, and the last one.
        var failures = 0
        var failure: FCMTokenRefusal?
        /// From when on the endpoint is asked again after a failure.
        var nextFetch: Duration = .zero
        var isFetching = false
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private enum Step {
        case use(Held)
        case fail(FCMTokenRefusal)
        case fetch
        case wait(AsyncStream<Void>)
    }

    private let account: FCMServiceAccount
    private let sender: any FCMSending
    private let clock: any ServiceClock
    private let jitter: @Sendable () -> Double
    private let state = Mutex(State())

    init(
        _ account: FCMServiceAccount, sender: any FCMSending, clock: any ServiceClock, jitter: @escaping @Sendable () -> Double
    ) {
        (self.account, self.sender, self.clock, self.jitter) = (account, sender, clock, jitter)
    }

    /// The token in use, or a new one.
    ///
    /// - Parameters:
    ///   - refused: the number of a token that FCM did not accept. It is not used again.
    ///   - deadline: how long the caller waits.
    func token(refused: Int? = nil, within deadline: Duration) async -> Result<Held, FCMTokenRefusal> {
        let end = clock.uptime + deadline
        while !Task.isCancelled, case let rest = end - clock.uptime, rest > .zero {
            switch step(refused: refused) {
            case .use(let held): return .success(held)
            case .fail(let refusal): return .failure(refusal)
            // Half of the time is left for the messages.
            case .fetch: await fetch(within: rest / 2)
            case .wait(let stream): await wait(stream, within: rest)
            }
        }
        return .failure(FCMTokenRefusal(reason: "there was no access token in time", isForGood: false))
    }

    /// What a caller does next. Also drops a refused token, and begins a fetch where one is needed.
    private func step(refused: Int?) -> Step {
        let uptime = clock.uptime
        return state.withLock { state in
            if let refused, state.held?.number == refused { state.held = nil }
            let usable = state.held.flatMap { uptime < $0.endsAt ? $0 : nil }
            if let usable, uptime < usable.renewAt || state.isFetching || uptime < state.nextFetch { return .use(usable) }
            if state.isFetching {
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                state.waiting.append(continuation)
                return .wait(stream)
            }
            if uptime < state.nextFetch, var failure = state.failure {
                failure.pause = state.nextFetch - uptime
                return .fail(failure)
            }
            state.isFetching = true
            return .fetch
        }
    }

    private func wait(_ stream: AsyncStream<Void>, within deadline: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream {} }
            group.addTask { [clock] in try? await clock.sleep(for: deadline) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    private func fetch(within deadline: Duration) async {
        let asked = clock.uptime
        let result = await ask(within: deadline)
        let isCancelled = Task.isCancelled
        let waiting = state.withLock { state in
            switch result {
            case .success((let authorization, let life)):
                state.fetched += 1
                (state.failures, state.failure, state.nextFetch) = (0, nil, .zero)
                state.held = Held(
                    headers: [("authorization", authorization), ("content-type", "application/json")], number: state.fetched,
                    renewAt: asked + life - min(Self.renewal, life / 2), endsAt: asked + life)
            // What ended with its caller says nothing of the endpoint.
            case .failure(let refusal) where !isCancelled: note(refusal, &state)
            case .failure: break
            }
            state.isFetching = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.finish() }
    }

    private func ask(within deadline: Duration) async -> Result<(authorization: String, life: Duration), FCMTokenRefusal> {
        guard let request = try? account.tokenRequest(at: clock.now) else {
            return .failure(FCMTokenRefusal(reason: "the key of the service account cannot sign", isForGood: true))
        }
        switch await sender.post(request, within: deadline) {
        case .answered(let answer): return Result { () throws(FCMTokenRefusal) in try answer.accessToken() }
        case .notSent(let reason), .unknown(let reason):
            return .failure(FCMTokenRefusal(reason: "the token endpoint: \(reason)", isForGood: false))
        }
    }

    private func note(_ refusal: FCMTokenRefusal, _ state: inout State) {
        state.failures += 1
        state.failure = refusal
        let backOff = refusal.isForGood ? Self.permanent : Self.transient
        let asked = min(refusal.pause ?? .zero, FCMBatchRun.longestPause)
        state.nextFetch = clock.uptime + backOff.delay(failures: state.failures, jitter: jitter(), minimum: asked)
    }
}

extension PushOutcome {
    /// What a push ends with that has no access token.
    init(_ refusal: FCMTokenRefusal) {
        self =
            refusal.isForGood
            ? .misconfigured(reason: refusal.reason) : .unavailable(reason: refusal.reason, retryAfter: refusal.pause)
    }
}
