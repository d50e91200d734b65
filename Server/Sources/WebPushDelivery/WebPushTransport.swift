import Logging
import PushHub
import RichPushModel
import Synchronization
import WebPushProtocol

/// What the transport needs of an HTTP client, so that it can be tested without a network.
public protocol WebPushSending: Sendable {
    /// Posts a message and returns what came back, within a time. It follows no redirect.
    func post(_ request: WebPushRequest, within deadline: Duration) async -> WebPushReply
}

/// What became of one request.
public enum WebPushReply: Hashable, Sendable {
    case answered(WebPushAnswer)
    /// It provably did not leave.
    case notSent(reason: String)
    /// It may have arrived.
    case unknown(reason: String)
    /// This server may not connect to the host.
    case notAllowed(reason: String)
}

/// The push-transport port on Web Push: one request for each browser, to whichever push service its subscription names.
public struct WebPushTransport: PushTransport {
    /// Requests that are under way at once.
    static let width = 64
    /// The least waits that follow an answer "not now" without one of its own.
    static let afterTooManyRequests: Duration = .seconds(60)
    static let afterServerError: Duration = .seconds(10)
    /// The wait of what a push service refuses that takes nothing of this server, while others take theirs.
    static let afterRefusal: Duration = .seconds(300)
    /// How long one answer may take. A batch goes on to other push services then; in a short one nothing leaves in its last third.
    static let answerTime: Duration = .seconds(10)
    /// The most that a `Retry-After` is believed.
    static let longestPause: Duration = .seconds(3600)
    /// Why a push did not leave: the deadline of its batch was near, or its push service rests. The latter is followed by the cause.
    package static let noTime = "no time was left for it"
    package static let resting = "the last pushes to this push service failed"

    private let identity: VAPIDIdentity
    private let rule: WebPushRule
    private let sender: any WebPushSending
    private let deadline: Duration
    private let clock: any ServiceClock
    private let tokens: VAPIDTokenCache
    private let accepted = AcceptedKeys()
    private let origins = KnownOrigins()
    private let log: PushServiceLog

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - rule: to which browsers it sends.
    ///   - deadline: how long a batch may take.
    public init(
        identity: VAPIDIdentity, allowing rule: WebPushRule, sender: any WebPushSending, deadline: Duration,
        clock: any ServiceClock, logger: Logger
    ) {
        self.identity = identity
        self.rule = rule
        self.sender = sender
        self.deadline = deadline
        self.clock = clock
        log = PushServiceLog(logger)
        tokens = VAPIDTokenCache(subject: identity.subject, clock: clock)
    }

    public func send(_ batch: PushBatch) async -> PushOutcomes {
        let start = Start(moment: clock.now, uptime: clock.uptime)
        let messages = BrowserMessages(batch)
        let results = await withTaskGroup(of: (Int, Result).self) { tasks in
            var results = [Result?](repeating: nil, count: batch.targets.count)
            for position in batch.targets.indices {
                if position >= Self.width, let (done, result) = await tasks.next() { results[done] = result }
                tasks.addTask { (position, await push(position, of: batch, messages, start)) }
            }
            for await (done, result) in tasks { results[done] = result }
            return results.compactMap(\.self)
        }
        report(results, batch)
        return PushOutcomes(outcomes(results))
    }

    /// When a batch began.
    private struct Start {
        let moment: Timestamp
        let uptime: Duration
    }

    /// What became of one push, before the others of the batch are looked at.
    private struct Result {
        var outcome: PushOutcome
        /// The push service; absent where none was asked.
        var origin: String?
        /// Why the push service did not serve it, unless that is the push's own fault.
        var trouble: String?
        /// Whether the push service refused this server rather than the message.
        var isUnauthorized = false
        /// Whether another key may be accepted. Some services answer 400 to one with which the browser has not subscribed.
        var mayBeWrongKey = false
    }

    private func push(_ position: Int, of batch: PushBatch, _ messages: BrowserMessages, _ start: Start) async -> Result {
        let run = batch.targets.run(of: position)
        guard batch.headers.indices.contains(run.headers), let body = messages[run] else {
            return Result(outcome: .rejected(reason: "the batch has no such body or header set, or one that is no push"))
        }
        guard let subscription = WebPushSubscription(token: batch.targets.handle(at: position).text) else {
            return Result(outcome: .badToken)
        }
        if let fault = rule.refusal(of: subscription) { return Result(outcome: .rejected(reason: "\(fault)")) }
        guard body.count <= WebPushEncryption.largestMessage else { return Result(outcome: .tooLarge) }
        let headers = headers(batch.headers[run.headers], start.moment)
        var result = Result(outcome: .rejected(reason: "the browser subscribed with a key that is not kept any more"))
        var isUnauthorized = true
        for key in accepted.order(identity.keys(for: subscription), for: subscription) {
            result = await post(body, to: subscription, headers, key, start)
            isUnauthorized = isUnauthorized && result.isUnauthorized
            guard result.mayBeWrongKey else { break }
        }
        // Only with every key: some services answer 400 to the right one for a push that is wrong in itself.
        if result.isUnauthorized, !isUnauthorized { (result.isUnauthorized, result.trouble) = (false, nil) }
        return result
    }

    private func post(
        _ body: [UInt8], to subscription: WebPushSubscription, _ headers: WebPushHeaders, _ key: VAPIDKey, _ start: Start
    ) async -> Result {
        // Later it could not be known whether the push has left.
        guard rest(since: start) >= min(Self.answerTime, deadline / 3), !Task.isCancelled else {
            return Result(outcome: .notSent(reason: Self.noTime))
        }
        let origin = subscription.origin
        if let cause = origins.rest(of: origin, at: clock.uptime) {
            return Result(outcome: .notSent(reason: "\(Self.resting): \(cause)"), origin: origin, trouble: cause)
        }
        guard let authorization = try? tokens.authorization(for: origin, key: key) else {
            return Result(outcome: .misconfigured(reason: "the VAPID key cannot sign"))
        }
        let request: WebPushRequest
        do { request = try WebPushRequest(body, to: subscription, headers: headers, authorization: authorization) } catch {
            return Result(outcome: .badToken)
        }
        // Encryption takes far longer than handing over. After it the others of the batch have their turn, so that many requests leave together:
        // with one write and one wake-up, and not with one of each for every push.
        await Task.yield()
        let reply = await sender.post(request, within: min(rest(since: start), Self.answerTime))
        origins.note(reply, of: origin, at: clock.uptime)
        let result = result(of: reply, origin, start.moment)
        if result.isUnauthorized { tokens.forget(origin, key: key.id) }
        if result.outcome == .accepted { accepted.note(key, for: subscription, isFirst: key.id == identity.keys.first?.id) }
        return result
    }

    /// What is left of the time of a batch.
    private func rest(since start: Start) -> Duration { deadline - (clock.uptime - start.uptime) }

    private func headers(_ headers: PushBatch.Headers, _ now: Timestamp) -> WebPushHeaders {
        WebPushHeaders(
            expiresAt: headers.expiration, priority: headers.priority, collapseID: headers.collapseID, now: now)
    }

    private func result(of reply: WebPushReply, _ origin: String, _ start: Timestamp) -> Result {
        switch reply {
        case .notSent(let reason): Result(outcome: .notSent(reason: reason), origin: origin, trouble: reason)
        case .unknown(let reason): Result(outcome: .unknown(reason: reason), origin: origin, trouble: reason)
        case .notAllowed(let reason): Result(outcome: .rejected(reason: reason))
        case .answered(let answer): result(of: answer, origin, start)
        }
    }

    private func result(of answer: WebPushAnswer, _ origin: String, _ start: Timestamp) -> Result {
        let reason = "status \(answer.status)"
        switch answer.disposition {
        case .accepted: return Result(outcome: .accepted, origin: origin)
        // The browser may have subscribed again since, which is another endpoint.
        case .gone: return Result(outcome: .gone(since: start), origin: origin)
        case .tooLarge: return Result(outcome: .tooLarge, origin: origin)
        case .refused:
            return Result(outcome: .rejected(reason: reason), origin: origin, mayBeWrongKey: answer.status == 400)
        case .unauthorized:
            return Result(
                outcome: .rejected(reason: reason), origin: origin, trouble: reason, isUnauthorized: true, mayBeWrongKey: true)
        case .later:
            let least = answer.status == 429 ? Self.afterTooManyRequests : Self.afterServerError
            let pause = min(answer.pause ?? least, Self.longestPause)
            return Result(outcome: .retry(after: pause, reason: reason), origin: origin, trouble: reason)
        }
    }

    /// A browser names its push service, so one registration must not hold up a send. A refusal of this server waits for the operator only
    /// where the push service has accepted nothing yet. A push service that has never answered, and one that is alone in its trouble, keeps
    /// only its own pushes waiting.
    private func outcomes(_ results: [Result]) -> [PushOutcome] {
        let answered = results.contains { result in
            switch result.outcome {
            case .notSent, .unknown: false
            default: result.origin != nil
            }
        }
        let isWholly = results.allSatisfy { $0.isUnauthorized || $0.origin == nil }
        return results.map { result in
            let standing = result.origin.flatMap { origins.standing(of: $0) }
            return switch result.outcome {
            case .notSent(let reason) where result.origin != nil && (answered || standing == nil):
                .delayed(by: Self.afterServerError, reason: reason)
            case .rejected(let reason) where result.isUnauthorized && standing != .accepts:
                isWholly ? .misconfigured(reason: reason) : .delayed(by: Self.afterRefusal, reason: reason)
            default: result.outcome
            }
        }
    }

    /// Logs which push services fail, and which work again.
    private func report(_ results: [Result], _ batch: PushBatch) {
        var rounds: [String: PushServiceRound] = [:]
        for result in results {
            guard let origin = result.origin else { continue }
            if let trouble = result.trouble {
                rounds[origin, default: PushServiceRound()].noteFailure(trouble, isRefusal: result.isUnauthorized)
            } else if !result.mayBeWrongKey {
                rounds[origin, default: PushServiceRound()].served += 1
            }
        }
        for (origin, round) in rounds {
            log.note(
                round, of: origin, isProven: origins.standing(of: origin) == .accepts, hub: batch.hub, at: clock.uptime)
        }
    }
}

/// With which older key browsers have taken pushes, where their subscriptions do not say it: without this each push would be refused once before.
///
/// Bounded: beyond that all is forgotten and learned anew. Only hashes are kept.
private final class AcceptedKeys: Sendable {
    private static let capacity = 100_000

    private let keys = Mutex<[Int: VAPIDKey.ID]>([:])

    /// The keys with the one that was accepted first.
    func order(_ keys: [VAPIDKey], for subscription: WebPushSubscription) -> [VAPIDKey] {
        guard keys.count > 1, let id = self.keys.withLock({ $0[subscription.hashValue] }) else { return keys }
        return keys.filter { $0.id == id } + keys.filter { $0.id != id }
    }

    func note(_ key: VAPIDKey, for subscription: WebPushSubscription, isFirst: Bool) {
        guard subscription.serverKey == nil else { return }
        keys.withLock { keys in
            if isFirst {
                if !keys.isEmpty { keys[subscription.hashValue] = nil }
            } else {
                if keys.count >= Self.capacity { keys = [:] }
                keys[subscription.hashValue] = key.id
            }
        }
    }
}

/// The push services that have answered this process, whether they have accepted a push, and which ones fail now.
///
/// Bounded: beyond that all is forgotten and learned anew.
private final class KnownOrigins: Sendable {
    enum Standing { case answers, accepts }

    private struct Known {
        var standing: Standing?
        /// How many pushes in a row were not served, and why the last was not.
        var failures = 0
        var cause = ""
        /// The uptime until which nothing more is tried.
        var restsUntil: Duration = .zero
    }

    private static let capacity = 1_000
    /// After so many failures in a row only one push at a time is tried, so that the pushes to others get the time.
    private static let patience = 3
    private static let rest = WebPushTransport.afterServerError

    private let origins = Mutex<[String: Known]>([:])

    /// `nil` for one that has not answered yet.
    func standing(of origin: String) -> Standing? { origins.withLock { $0[origin]?.standing } }

    /// Why no push may be tried now; `nil` where one may.
    func rest(of origin: String, at uptime: Duration) -> String? {
        origins.withLock { origins in
            guard let known = origins[origin], known.failures >= Self.patience else { return nil }
            guard uptime >= known.restsUntil else { return known.cause }
            origins[origin]?.restsUntil = uptime + Self.rest
            return nil
        }
    }

    func note(_ reply: WebPushReply, of origin: String, at uptime: Duration) {
        origins.withLock { origins in
            if origins.count >= Self.capacity, origins[origin] == nil { origins = [:] }
            var known = origins[origin] ?? Known()
            switch reply {
            case .notAllowed: return
            case .answered(let answer) where answer.disposition == .accepted: known = Known(standing: .accepts)
            case .answered(let answer):
                known.standing = known.standing ?? .answers
                known.failures = answer.status >= 500 ? known.failures + 1 : 0
                known.cause = "status \(answer.status)"
            case .notSent(let reason), .unknown(let reason):
                known.failures += 1
                known.cause = reason
            }
            if known.failures == Self.patience { known.restsUntil = uptime + Self.rest }
            origins[origin] = known
        }
    }
}
