/// A deliberate failure (Reference/WebPush.md#8-2). It affects messages that passed every check.
public enum SenderFault: Sendable, Hashable, Codable {
    /// 429, with `Retry-After` in seconds or without it.
    case tooManyRequests(retryAfter: Int?)
    /// 503, likewise.
    case unavailable(retryAfter: Int?)
    /// 410, although the subscription lives.
    case gone
    /// 413, although the body is small enough.
    case tooLarge
    /// 500.
    case serverError
    /// 307 to a path of this service that no sender may use (Reference/WebPush.md#8-1-12).
    case redirect
    /// The message is accepted, and the connection ends before the answer: a 201 that does not arrive.
    case closeBeforeAnswer
    /// The connection ends in the middle of the body. Nothing is checked and nothing is kept.
    case closeInBody
    /// Over HTTP/2 the connection ends in order, and says that the message was not processed. Over HTTP/1.1 it just ends.
    case endInOrder

    /// Whether the message is kept or delivered.
    var acceptsMessage: Bool { self == .closeBeforeAnswer }

    /// The answer in place of the true one; `nil` for a connection that ends.
    func answer(redirectedTo place: String) -> SenderAnswer? {
        switch self {
        case .tooManyRequests(let seconds):
            SenderAnswer(error: 429, errno: nil, message: "Too many requests.", headers: Self.pause(seconds))
        case .unavailable(let seconds):
            SenderAnswer(error: 503, errno: 201, message: "The service is overloaded.", headers: Self.pause(seconds))
        case .gone: SenderAnswer(error: 410, errno: 106, message: SenderRule.subscriptionKnown.description)
        case .tooLarge: SenderAnswer(error: 413, errno: 104, message: SenderRule.bodySize.description)
        case .serverError: SenderAnswer(error: 500, errno: nil, message: "The service failed.")
        case .redirect: SenderAnswer(status: 307, headers: [("location", place)])
        case .closeBeforeAnswer, .closeInBody, .endInOrder: nil
        }
    }

    private static func pause(_ seconds: Int?) -> [(name: String, value: String)] {
        seconds.map { [("retry-after", "\($0)")] } ?? []
    }
}

/// The faults that were injected and not used yet, in their order.
struct SenderFaultPlan: Sendable {
    /// The most faults that can wait: a plan is written by hand.
    static let capacity = 10_000

    private var waiting: [SenderFault] = []

    /// How many faults wait.
    var count: Int { waiting.count }

    mutating func add(_ fault: SenderFault, times: Int) {
        waiting += Array(repeating: fault, count: max(0, min(times, Self.capacity - waiting.count)))
    }

    mutating func clear() { waiting.removeAll() }

    /// Takes the next one. One that ends a connection in the middle of a body comes too late for a request that is complete, so it
    /// waits for the next request.
    mutating func next(inBody: Bool) -> SenderFault? {
        guard let first = waiting.first, (first == .closeInBody) == inBody else { return nil }
        return waiting.removeFirst()
    }
}
