import RichPushModel

/// All that one local APNs knows; lives behind one lock.
struct ServiceState: Sendable {
    /// The stream of a connected device. The number tells a connection from its successor.
    struct Subscriber: Sendable {
        var number: Int
        var continuation: AsyncStream<DeliveredPush>.Continuation
    }

    var rules: EmulationRules
    var registry = ProviderRegistry()
    /// Provider tokens minted before this second count as expired.
    var tokensRecalledBefore: Int64?
    /// Provider tokens that a fault answered with `ExpiredProviderToken`; the newest sixteen.
    private(set) var tokensCalledExpired: [String] = []
    /// Serial numbers of client certificates that are refused in the handshake.
    var revokedCertificates: Set<String> = []
    var tokens = DeviceTokenTable()
    var store = StoreAndForward()
    var channels = ChannelTable()
    /// Requests for broadcasts and channels in the present rate window of each app.
    var appRequests: [String: RateWindow] = [:]
    var log: DeliveryLog
    var recorder: ExchangeRecorder
    var faults = FaultPlan()
    var random: RandomSource
    var devices: [String: Subscriber] = [:]
    var observers: [Int: AsyncStream<APNsExchange>.Continuation] = [:]
    var fateObservers: [Int: AsyncStream<PushFate>.Continuation] = [:]
    /// Digests of the provider tokens that came, a hundred at most.
    var authorizations: Set<Int> = []
    /// What clients did that is counted as it happens; the rest of the complaints is drawn from frames.
    var misdeeds: [ClientComplaint.Kind: Int] = [:]
    /// Which kinds of clients that never came to speak HTTP/2 were told of in the log, and how often.
    var strangers: [ClientComplaint.Kind: RateWindow] = [:]
    /// The streams of devices have ended for good.
    var isFinished = false
    /// Grows with every change of what `keptState` holds.
    var keptRevision = 0
    /// Serial numbers of client certificates that this emulator issued.
    var issuedCertificates: Set<String> = []
    var lastNumber = 0
    /// How many connections there were.
    var connectionCount = 0

    init(configuration: LocalAPNsConfiguration) {
        rules = configuration.rules
        log = DeliveryLog(capacity: configuration.retention.deliveries)
        recorder = ExchangeRecorder(retention: configuration.retention)
        random = RandomSource(seed: configuration.randomSeed)
    }

    /// A number that no subscriber had before.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// An injected `ExpiredProviderToken` told the client to replace this token.
    mutating func callExpired(_ token: String) {
        guard !tokensCalledExpired.contains(token) else { return }
        if tokensCalledExpired.count >= 16 { tokensCalledExpired.removeFirst() }
        tokensCalledExpired.append(token)
    }

    /// Carries out what the store decided.
    ///
    /// Handing over happens under the lock of the caller, so that a device sees its pushes in the order of the decisions;
    /// that is safe because a yield runs no code of the reader.
    mutating func carryOut(_ instructions: [StoreAndForward.Instruction], now: Timestamp) {
        for instruction in instructions {
            switch instruction {
            case .note(let push, let state): note(push, state, at: now)
            case .deliver(let push, let stored): handOver(push, stored: stored, now: now)
            }
        }
    }

    private mutating func handOver(_ push: AcceptedPush, stored: Bool, now: Timestamp) {
        log.note(push, .delivered, at: now)
        let result = devices[push.device]?.continuation.yield(push.delivered(at: now, stored: stored))
        guard case .dropped(let lost) = result else { return }
        note(lost.accepted, .overflowed, at: now)
    }

    /// Writes down that a push did not go to its device, and tells the observers.
    private mutating func note(_ push: AcceptedPush, _ state: DeliveryRecord.State, at now: Timestamp) {
        log.note(push, state, at: now)
        for observer in fateObservers.values { observer.yield(PushFate(push, state, at: now)) }
    }
}

extension DeliveredPush {
    /// The push as it was before it was handed over.
    fileprivate var accepted: AcceptedPush {
        AcceptedPush(
            device: device, token: token, topic: topic, bundleID: bundleID, apnsID: apnsID, uniqueID: uniqueID,
            pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            receivedAt: receivedAt, channelID: channelID)
    }
}
