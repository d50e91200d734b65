import FCMProtocol
import PushHub
import RichPushModel
import Synchronization

/// Sends one batch: many messages at once, each as soon as the pace lets it go, until the deadline or a reason to stop.
final class FCMBatchRun: Sendable {
    /// What became of one push, before the others of the batch are looked at.
    struct Result {
        var outcome: PushOutcome
        /// Whether FCM says that the device token is of another project.
        var isForeign = false
    }

    /// Requests that are under way at once.
    static let width = 500
    /// The time that a message needs for its answer; Google asks for as much (Reference/FCM.md#3-2). In a shorter batch a third of its time.
    static let answerTime: Duration = .seconds(10)
    /// The most that a `Retry-After` is believed.
    static let longestPause: Duration = .seconds(3600)

    private let batch: PushBatch
    private let messages: AndroidMessages
    /// When the batch began.
    private let moment: Timestamp
    private let end: Duration
    /// From when on nothing leaves.
    private let lastDeparture: Duration
    private let transport: FCMTransport
    private let project: String
    private let url: String
    private let tokens: FCMAccessTokens
    /// What becomes of the rest of the batch, which does not leave any more. The first that is noted holds.
    private let halt = Mutex<PushOutcome?>(nil)

    /// - Parameter end: the uptime at which the batch has to be over.
    init(
        _ batch: PushBatch, moment: Timestamp, end: Duration, by transport: FCMTransport, to project: String,
        tokens: FCMAccessTokens
    ) {
        (self.batch, self.moment, self.end) = (batch, moment, end)
        lastDeparture = end - min(Self.answerTime, (end - transport.clock.uptime) / 3)
        (self.transport, self.project, self.tokens) = (transport, project, tokens)
        url = "\(transport.endpoint)/v1/projects/\(project)/messages:send"
        messages = AndroidMessages(batch, at: moment)
    }

    /// Sends, and returns a result for each target.
    func results() async -> [Result] {
        // Without a token nothing begins.
        if case .failure(let refusal) = await tokens.token(within: rest) { stop(PushOutcome(refusal)) }
        return await withTaskGroup(of: (Int, Result).self) { tasks in
            let count = batch.targets.count
            var results = [Result?](repeating: nil, count: count)
            var allowed = 0
            for position in 0..<count {
                if position >= Self.width, let (done, result) = await tasks.next() { results[done] = result }
                if allowed == 0 { allowed = await departures(count - position) }
                if let outcome = halt.withLock({ $0 }) {
                    for rest in position..<count { results[rest] = Result(outcome: outcome) }
                    break
                }
                allowed -= 1
                tasks.addTask { (position, await self.push(position)) }
            }
            for await (done, result) in tasks { results[done] = result }
            return results.map { $0 ?? Result(outcome: .unknown(reason: "no outcome")) }
        }
    }

    private var clock: any ServiceClock { transport.clock }
    private var rest: Duration { end - clock.uptime }

    private func pace<Value>(_ work: (inout FCMPace) -> Value) -> Value { transport.projects.pace(of: project, work) }

    private var isOver: Bool { clock.uptime >= lastDeparture || Task.isCancelled }

    private static let late = PushOutcome.notSent(reason: FCMTransport.noTime)

    @discardableResult
    private func stop(_ outcome: PushOutcome) -> Result {
        halt.withLock { $0 = $0 ?? outcome }
        return Result(outcome: outcome)
    }

    /// How many may leave now. Waits for the pace; stops the batch when that takes too long, or when FCM has asked to wait.
    private func departures(_ wanted: Int) async -> Int {
        // The last wait for the pace, after which the time may be over.
        var waited: Duration?
        while halt.withLock({ $0 }) == nil {
            guard !isOver else {
                // A node that stops is not the pace.
                let paced = Task.isCancelled ? nil : waited
                stop(paced.map { .unavailable(reason: FCMTransport.paced, retryAfter: $0) } ?? Self.late)
                break
            }
            switch pace({ $0.take(wanted, at: clock.uptime) }) {
            case .go(let count): return count
            case .wait(let wait) where wait < lastDeparture - clock.uptime:
                waited = wait
                try? await clock.sleep(for: wait)
            case .wait(let wait): stop(.unavailable(reason: FCMTransport.paced, retryAfter: wait))
            case .paused(let pause, let reason): stop(.unavailable(reason: reason, retryAfter: pause))
            }
        }
        return 0
    }

    private func push(_ position: Int) async -> Result {
        let targets = batch.targets
        let message: FCMMessage
        switch messages[targets.run(of: position)] {
        case .message(let made): message = made
        case .refused(let outcome): return Result(outcome: outcome)
        }
        let body = message.body(for: targets.bytes[targets.token(at: position)])
        var refused: Int?
        // Once more with a new token, when FCM does not accept the first.
        for _ in 0..<2 {
            switch await tokens.token(refused: refused, within: rest) {
            case .failure(let refusal): return stop(PushOutcome(refusal))
            case .success(let token):
                if let result = await post(body, token) { return result }
                refused = token.number
            }
        }
        return stop(.misconfigured(reason: "FCM does not accept the access token of the service account"))
    }

    /// `nil` when FCM does not accept the access token.
    private func post(_ body: [UInt8], _ token: FCMAccessTokens.Held) async -> Result? {
        guard !isOver else { return Result(outcome: Self.late) }
        let request = FCMRequest(url: url, headers: token.headers, body: body)
        switch await transport.sender.post(request, within: rest) {
        case .notSent(let reason): return Result(outcome: .notSent(reason: reason))
        case .unknown(let reason): return Result(outcome: .unknown(reason: reason))
        case .answered(let answer): return result(of: answer)
        }
    }

    /// What an answer means (Reference/FCM.md#3-1); `nil` when FCM does not accept the access token.
    private func result(of answer: FCMAnswer) -> Result? {
        switch answer.disposition {
        case .accepted:
            pace { $0.noteAccepted() }
            return Result(outcome: .accepted)
        // The app may have registered again since.
        case .unregistered: return Result(outcome: .gone(since: moment))
        case .wrongSender: return Result(outcome: .badToken, isForeign: true)
        case .badTarget: return Result(outcome: .badToken)
        case .tooLarge: return Result(outcome: .tooLarge)
        case .refused: return Result(outcome: .rejected(reason: answer.reason))
        case .unauthorized: return nil
        // The targets of other push services are sent to all the same.
        case .thirdPartyAuth: return Result(outcome: .misconfigured(reason: answer.reason))
        case .permissionDenied, .wrongProject: return stop(.misconfigured(reason: answer.reason))
        case .later:
            let pause = min(answer.leastPause, Self.longestPause)
            let rest = pace { pace in
                pace.noteRefused(
                    pause, reason: answer.reason, of: answer.scope, jitter: transport.jitter(), at: clock.uptime)
            }
            if let rest { stop(.unavailable(reason: answer.reason, retryAfter: rest)) }
            return Result(outcome: .retry(after: pause, reason: answer.reason))
        }
    }
}
