import RichPushModel
import WireText

/// A deliberate failure (Reference/FCM.md#7). It strikes a request that passed every check.
public enum FCMFault: Sendable, Hashable, Codable {
    /// What a `Retry-After` says.
    public enum Pause: Sendable, Hashable, Codable {
        /// A number, or a date so many seconds from now.
        case seconds(Int), date(inSeconds: Int)

        fileprivate func text(_ now: Timestamp) -> String {
            switch self {
            case .seconds(let seconds): "\(seconds)"
            case .date(let seconds): HTTPDate.text(now + .seconds(seconds))
            }
        }
    }

    /// 429 with `QUOTA_EXCEEDED`, and 503 with `UNAVAILABLE`.
    case tooManyRequests(Pause?), unavailable(Pause?)
    /// 500 with `INTERNAL`, and 502 with a page in HTML.
    case serverError, badGateway
    /// The answer of a rule that the request keeps.
    case refusal(FCMRule)
    case delay(milliseconds: Int)
    /// GOAWAY. Either it names the stream before this one, so that this request was not processed, or the answer goes before it.
    case goAway(processed: Bool)
    /// RST_STREAM with INTERNAL_ERROR; over HTTP/1.1 the connection ends. The request is not processed.
    case resetStream
    /// Nothing more is sent on the stream. The request is not processed.
    case stall
    /// The head of an answer and half of its body come, and then nothing. The request is processed.
    case halfAnswer
    /// The request is processed, and the connection ends before the answer.
    case loseAnswer
    /// The access tokens of the service account are revoked, of which this request is the first to hear.
    case revokeTokens

    /// Whether the request is processed.
    var accepts: Bool {
        switch self {
        case .delay, .halfAnswer, .loseAnswer, .goAway(processed: true): true
        default: false
        }
    }

    /// Whether a whole answer goes out.
    var answers: Bool {
        switch self {
        case .goAway(processed: false), .resetStream, .stall, .halfAnswer, .loseAnswer: false
        default: true
        }
    }

    /// The answer in place of the true one; `nil` where there is none or the true one.
    func answer(now: Timestamp) -> GoogleAnswer? {
        switch self {
        case .tooManyRequests(let pause): GoogleAnswer([FCMViolation(.projectQuota)], retryAfter: pause?.text(now))
        case .unavailable(let pause):
            GoogleAnswer(
                error: 503, "The service is currently unavailable.", code: "UNAVAILABLE", retryAfter: pause?.text(now))
        case .serverError: GoogleAnswer(error: 500, "Internal error encountered.", code: "INTERNAL")
        case .badGateway: .page(502, "The server encountered a temporary error. Please try again in 30 seconds.")
        case .refusal(let rule): GoogleAnswer([FCMViolation(rule)])
        case .revokeTokens: GoogleAnswer([FCMViolation(.credentialNotRevoked)])
        case .delay, .goAway, .resetStream, .stall, .halfAnswer, .loseAnswer: nil
        }
    }
}

/// Which requests a fault strikes.
public enum LocalFCMEndpoint: String, Sendable, Hashable, Codable, CaseIterable {
    case token, send, topics
}

/// A fault that waits for requests.
public struct FCMPlannedFault: Sendable, Hashable, Codable {
    public let fault: FCMFault
    public let endpoint: LocalFCMEndpoint
    /// Strikes every so many requests, permanently; `nil` for one that is used up.
    public let every: Int?
    /// How many requests it still strikes.
    public internal(set) var left: Int
    /// How many requests pass before it strikes.
    public internal(set) var skipped: Int
}

/// The faults that wait, in the order in which they were planned.
struct FCMFaultPlan: Sendable {
    /// More cannot wait: a plan is written by hand.
    static let capacity = 1_000

    private(set) var entries: [FCMPlannedFault] = []

    /// How many strikes wait; one that strikes again and again counts once.
    var count: Int { entries.reduce(0) { $0 + ($1.every == nil ? $1.left : 1) } }

    mutating func add(_ fault: FCMFault, at endpoint: LocalFCMEndpoint, times: Int, after: Int, every: Int?) {
        guard entries.count < Self.capacity, times > 0, every ?? 1 > 0 else { return }
        let skipped = every.map { $0 - 1 } ?? max(0, after)
        entries.append(FCMPlannedFault(fault: fault, endpoint: endpoint, every: every, left: times, skipped: skipped))
    }

    mutating func clear() { entries.removeAll() }

    /// Takes the one that strikes a request. Each entry counts the requests that reach it.
    mutating func next(at endpoint: LocalFCMEndpoint) -> FCMFault? {
        for index in entries.indices where entries[index].endpoint == endpoint {
            let entry = entries[index]
            if entry.skipped > 0 {
                entries[index].skipped -= 1
            } else if let every = entry.every {
                entries[index].skipped = every - 1
                return entry.fault
            } else {
                entries[index].left -= 1
                if entry.left == 1 { entries.remove(at: index) }
                return entry.fault
            }
        }
        return nil
    }
}
