import RichPushModel

/// Pushes that are sent together: the bodies and header sets that they share, and which target gets which.
public struct PushBatch: Sendable {
    /// Headers that many targets share.
    public struct Headers: Hashable, Sendable {
        public var pushType: String
        public var priority: Int
        /// Seconds since 1970; absent means no `apns-expiration` header, which is not the same as 0.
        public var expiration: Int64?
        public var collapseID: String?
        /// Absent means the transport's default topic.
        public var topic: String?

        public init(pushType: String, priority: Int, expiration: Int64? = nil, collapseID: String? = nil, topic: String? = nil) {
            self.pushType = pushType
            self.priority = priority
            self.expiration = expiration
            self.collapseID = collapseID
            self.topic = topic
        }
    }

    /// One push.
    public struct Target: Hashable, Sendable {
        public var handle: DeviceToken
        /// `sandbox` or `production`; absent means the hub's default.
        public var environment: String?
        /// Index into `bodies`.
        public var body: Int
        /// Index into `headers`.
        public var headers: Int
        /// The `apns-id`: the same for every retry of the same target.
        public var pushID: PushID

        public init(handle: DeviceToken, environment: String? = nil, body: Int = 0, headers: Int = 0, pushID: PushID) {
            self.handle = handle
            self.environment = environment
            self.body = body
            self.headers = headers
            self.pushID = pushID
        }
    }

    public var hub: HubID
    /// That of all targets.
    public var platform: Platform = .apns
    /// For whose devices the bodies are, where the targets have another platform: the transport makes its own messages of them.
    public var bodyPlatform: Platform?
    public var bodies: [[UInt8]]
    public var headers: [Headers]
    public var targets: PushTargets
    /// A small batch that overtakes larger ones waiting in the transport, because a caller may be waiting for it.
    public var isExpress: Bool
    /// When the send was due, for metrics; absent where it is not measured.
    public var dueAt: Timestamp?

    public init(hub: HubID, bodies: [[UInt8]], headers: [Headers], targets: [Target], isExpress: Bool = false) {
        self.init(hub: hub, bodies: bodies, headers: headers, targets: PushTargets(targets), isExpress: isExpress)
    }

    init(hub: HubID, bodies: [[UInt8]], headers: [Headers], targets: PushTargets, isExpress: Bool = false) {
        self.hub = hub
        self.bodies = bodies
        self.headers = headers
        self.targets = targets
        self.isExpress = isExpress
    }
}

/// What the transport says of one push, in the hub's terms.
public enum PushOutcome: Hashable, Sendable {
    /// The push service took it. Not: delivered.
    case accepted
    /// The device token is dead since the moment given; the record is removed unless it registered later.
    case gone(since: Timestamp)
    /// The token is malformed or of the other environment: the record becomes inactive and is never deleted.
    case badToken
    /// Refused permanently; the reason is the push service's.
    case rejected(reason: String)
    /// Refused for good, because the body is larger than the push service takes.
    case tooLarge
    /// Refused for now, this one push: try again, not before the delay.
    case retry(after: Duration, reason: String)
    /// Provably not processed, this one push: its push service cannot be used now, and those of others can. Safe to send again, not
    /// before the delay.
    case delayed(by: Duration, reason: String)
    /// Provably not processed: safe to send again. The push service or the way to it cannot be used now.
    case notSent(reason: String)
    /// The push service answered that it cannot serve now: not processed, and safe to send again, but not before `retryAfter` has
    /// passed, if the service named a time.
    case unavailable(reason: String, retryAfter: Duration? = nil)
    /// Unknown whether it was processed; a retry may be a duplicate.
    case unknown(reason: String)
    /// The credential or the configuration is wrong: no push succeeds until an operator corrects it.
    case misconfigured(reason: String)
    /// There is no transport for this platform, or no credential for this environment.
    case unsupported
}

extension PushOutcome {
    /// The reason of a transport that has no credential at all.
    public static let noCredential = "no APNs credential is set"

    /// The reason from the push service or the transport, if there is one.
    var reason: String? {
        switch self {
        case .accepted, .gone, .badToken, .tooLarge, .unsupported: nil
        case .rejected(let reason), .retry(_, let reason), .delayed(_, let reason), .notSent(let reason),
            .unavailable(let reason, _), .unknown(let reason), .misconfigured(let reason):
            reason
        }
    }
}

/// What became of the targets of a batch, in their order.
///
/// What is said of all of them is kept once: nearly every batch is accepted whole, and a thousand outcomes cost more to make, to look
/// at and to free than the decision what to do about them.
public struct PushOutcomes: Sendable {
    private enum Kept: Sendable {
        case same(PushOutcome, count: Int)
        case each([PushOutcome])
    }

    private let kept: Kept

    /// One outcome for each target.
    public init(_ outcomes: [PushOutcome]) { kept = .each(outcomes) }

    /// The same outcome for so many targets.
    public init(repeating outcome: PushOutcome, count: Int) { kept = .same(outcome, count: count) }

    /// The outcome of all targets, where it was said of all at once; `nil` does not mean that they differ.
    public var common: PushOutcome? { if case .same(let outcome, _) = kept { outcome } else { nil } }

    /// Whether every target was accepted.
    public var areAllAccepted: Bool {
        switch kept {
        case .same(let outcome, _): outcome == .accepted
        case .each(let outcomes): outcomes.allSatisfy { $0 == .accepted }
        }
    }
}

extension PushOutcomes: RandomAccessCollection {
    public var startIndex: Int { 0 }

    public var endIndex: Int {
        switch kept {
        case .same(_, let count): count
        case .each(let outcomes): outcomes.count
        }
    }

    public subscript(position: Int) -> PushOutcome {
        switch kept {
        case .same(let outcome, let count):
            precondition(position < count, "there is no such target")
            return outcome
        case .each(let outcomes): return outcomes[position]
        }
    }
}

extension PushOutcomes: ExpressibleByArrayLiteral {
    public init(arrayLiteral outcomes: PushOutcome...) { self.init(outcomes) }
}

extension PushOutcomes: Equatable {
    public static func == (left: PushOutcomes, right: PushOutcomes) -> Bool { left.elementsEqual(right) }
}

/// Sends pushes to a push service. Implemented on the APNs client.
public protocol PushTransport: Sendable {
    /// Sends a batch and returns one outcome for each target, in the order of the targets.
    ///
    /// Every push ends within the transport's deadline in exactly one outcome; the call never throws, because for each
    /// target it must be said whether it was sent. Cancellation ends it early with `unknown` or `notSent` outcomes.
    func send(_ batch: PushBatch) async -> PushOutcomes

    /// Gets ready for batches of a hub to a platform, before the caller makes sure that it may send: what this takes is not part of the
    /// deadline. It is called before every batch, and fails with the batch.
    func prepare(for hub: HubID, on platform: Platform) async
}

extension PushTransport {
    /// Does nothing.
    public func prepare(for hub: HubID, on platform: Platform) async {}
}
