import APNsProtocol
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The decisions of a connection pool, without connections: what is there, and whether one more is wanted.
struct APNsPoolState {
    enum Phase: Equatable {
        case connecting
        /// Usable; `hasAnswered` once a request was answered on it, which ends the warm-up.
        case ready(hasAnswered: Bool)
        case draining
    }

    /// A connection of the pool.
    struct Member {
        let id: Int
        var phase: Phase
        /// When it was asked for.
        let begun: NIODeadline
        /// When APNs took the first push on it, which binds it to what the team has at that moment (Reference/APNs.md#2-3).
        /// Absent for a connection that was of no use yet: a refusal shows nothing.
        var boundAt: NIODeadline?
        /// The pushes in a row to which APNs said that it is unavailable, each once.
        var unavailable: [UUID?] = []
    }

    /// What to do now.
    enum Instruction: Equatable {
        case none
        /// Make a connection under this number.
        case connect(Int)
        /// Ask again then.
        case wait(until: NIODeadline)
        /// Nothing will be sent: end what is queued with this.
        case failQueue(APNsFailure)
    }

    let maximumConnections: Int
    let queueBeforeScaling: TimeAmount
    let credentialPause: TimeAmount
    private(set) var phases: [Member] = []
    private(set) var pacing: ReconnectPacing
    private(set) var isStopping = false
    /// After this long without an answer another connection is tried beside one that is coming.
    static let slowStart: TimeAmount = .seconds(3)
    /// How long connections have stood before they are left for a topic that they may not know, and how long that is not done again.
    static let bindingAge: TimeAmount = .minutes(1)
    static let renewalPause: TimeAmount = .minutes(20)

    /// Why the last attempt failed; cleared by the next answer.
    private(set) var lastFailure: APNsFailure?
    private var refusedUntil: NIODeadline?
    /// When the connections were last left because they might not know a new app.
    private var renewedAt: NIODeadline?
    private var lastGrowth = NIODeadline.uptimeNanoseconds(0)
    private var nextID = 1
    private var step = 1

    init(maximumConnections: Int, queueBeforeScaling: TimeAmount, credentialPause: TimeAmount, pacing: ReconnectPacing) {
        self.maximumConnections = maximumConnections
        self.queueBeforeScaling = queueBeforeScaling
        self.credentialPause = credentialPause
        self.pacing = pacing
    }

    /// How the connections are counted, when several pools of one client count together.
    mutating func number(from first: Int, by step: Int) {
        nextID = first
        self.step = step
    }

    func count(where condition: (Phase) -> Bool) -> Int { phases.reduce(0) { condition($1.phase) ? $0 + 1 : $0 } }

    /// Connections that have a place under the limit.
    private var occupied: Int { count { $0 != .draining } }

    func phase(of id: Int) -> Phase? { phases.first { $0.id == id }?.phase }

    /// Decides after anything changed. `waitingSince` says since when the next push in the queue waits; `nil` when it is empty.
    /// `wanted` is how many connections the measured load needs, if that is known.
    mutating func decide(waitingSince: NIODeadline?, wanted: Int? = nil, at now: NIODeadline) -> Instruction {
        guard let waitingSince else { return .none }
        if let refusedUntil {
            guard now >= refusedUntil else { return .failQueue(.credentialRefused) }
            self.refusedUntil = nil
        }
        guard occupied < maximumConnections else { return .none }
        let coming = comingConnections(at: now)
        // One beside what hangs, and not one after the other: then it is not the address or the middlebox.
        let counted = occupied - min(coming.slow, 1)
        let isMeasured = wanted.map { counted > coming.promising && counted < $0 } ?? false
        // One at a time, unless it was measured that more are needed: the one that is coming will show it.
        if !isMeasured {
            guard coming.slow <= 1 else { return .none }
            if coming.promising > 0 { return coming.slow > 0 ? .none : .wait(until: coming.nextSlow) }
        }
        // As many as the load needs are there: they get the time to work off what waits.
        if let wanted, counted >= wanted, counted > 0 { return .none }
        // Time before the latest connection was of use does not count: it was spent on making that connection.
        let scalingFrom = counted == 0 || isMeasured ? now : max(waitingSince, lastGrowth) + queueBeforeScaling
        let earliest = max(scalingFrom, pacing.nextAttempt)
        guard now >= earliest else { return .wait(until: earliest) }
        pacing.attempted(at: now)
        let id = nextID
        nextID += step
        phases.append(Member(id: id, phase: .connecting, begun: now))
        return .connect(id)
    }

    /// The connections on which nothing was answered yet. One that hangs, in a middlebox or at an address of no use, does not hold up
    /// the others: it is slow, and counts no longer.
    private func comingConnections(at now: NIODeadline) -> (promising: Int, slow: Int, nextSlow: NIODeadline) {
        var coming = (promising: 0, slow: 0, nextSlow: NIODeadline.distantFuture)
        for member in phases where member.phase == .connecting || member.phase == .ready(hasAnswered: false) {
            let end = member.begun + Self.slowStart
            if now < end {
                coming.promising += 1
                coming.nextSlow = min(coming.nextSlow, end)
            } else {
                coming.slow += 1
            }
        }
        return coming
    }

    mutating func ready(_ id: Int) { set(id, .ready(hasAnswered: false)) }

    /// A request was answered on the connection, which ends its warm-up.
    ///
    /// - Parameter isOfUse: whether the answer shows that APNs accepts this client. A refusal does not: a client whose connections
    ///   are closed for refused pushes, and that reconnects at once each time, would look like an attack
    ///   (Reference/APNs.md#1-8).
    mutating func answered(_ id: Int, isOfUse: Bool, at now: NIODeadline) {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return }
        if !phases[index].unavailable.isEmpty { phases[index].unavailable = [] }
        if phases[index].phase == .ready(hasAnswered: false) {
            lastGrowth = now
            phases[index].phase = .ready(hasAnswered: true)
            lastFailure = nil
        }
        guard isOfUse, phases[index].boundAt == nil else { return }
        phases[index].boundAt = now
        pacing.succeeded()
    }

    /// So many different pushes in a row have to be answered with "unavailable" before that counts as the state of APNs.
    static let unavailableRun = 3

    /// APNs answered on the connection that it is unavailable. Returns whether that concerns more than one push: a single push that
    /// gets this answer each time must not end the connection for the others.
    mutating func saidUnavailable(_ id: Int, to push: UUID?) -> Bool {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return false }
        if phases[index].phase == .ready(hasAnswered: false) { phases[index].phase = .ready(hasAnswered: true) }
        if push == nil || !phases[index].unavailable.contains(push) { phases[index].unavailable.append(push) }
        return phases[index].unavailable.count >= Self.unavailableRun
    }

    /// Whether APNs took a push on the connection.
    func isOfUse(_ id: Int) -> Bool { phases.contains { $0.id == id && $0.boundAt != nil } }

    /// Takes no more pushes there; a replacement may be made at once.
    mutating func draining(_ id: Int) {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return }
        if phases[index].phase != .draining { noteEnd(of: phases[index]) }
        phases[index].phase = .draining
    }

    /// A connection is gone. One that was of no use makes the next attempt wait.
    mutating func closed(_ id: Int, failure: APNsFailure, at now: NIODeadline, chance: Double) {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return }
        let member = phases.remove(at: index)
        guard member.phase != .draining else { return }
        guard member.boundAt == nil else { return noteEnd(of: member) }
        // A client whose connection was closed after an answer must not reconnect at once (Reference/APNs.md#1-8).
        let isAway = member.phase != .ready(hasAnswered: true) && failure.isAbsence
        failed(failure, at: now, chance: chance, isAway: isAway)
    }

    private mutating func noteEnd(of member: Member) {
        if member.boundAt != nil { pacing.endedEarly(begun: member.begun) }
    }

    /// The server asked for a pause, or something failed that would fail again at once.
    ///
    /// - Parameter isAway: whether APNs is unreachable, so that the pause stays short.
    mutating func failed(_ failure: APNsFailure, at now: NIODeadline, chance: Double, isAway: Bool = false) {
        lastFailure = failure
        pacing.failed(at: now, chance: chance, isAway: isAway)
    }

    /// APNs refuses the credential: no reconnecting in a loop (Reference/APNs.md#1-7). Returns whether that was unknown before.
    mutating func credentialRefused(at now: NIODeadline) -> Bool {
        defer { refusedUntil = now + credentialPause }
        lastFailure = .credentialRefused
        return refusedUntil == nil
    }

    /// APNs refuses a topic on a connection. Returns whether a new one may know it: an app that was added to the team later is
    /// unknown where another push came before (Reference/APNs.md#2-3).
    ///
    /// That costs connections and is seldom the reason, so it is tried for connections that have stood for a while, and not often.
    mutating func mayKnowTopicAnew(_ id: Int, at now: NIODeadline) -> Bool {
        guard let boundAt = phases.first(where: { $0.id == id })?.boundAt else { return false }
        // It is left already, and this is one of the answers that it owed.
        if let renewedAt, boundAt < renewedAt { return true }
        guard now - boundAt >= Self.bindingAge, renewedAt.map({ now - $0 >= Self.renewalPause }) ?? true else { return false }
        renewedAt = now
        return true
    }

    mutating func stop() { isStopping = true }

    private mutating func set(_ id: Int, _ phase: Phase) {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return }
        phases[index].phase = phase
    }
}

extension APNsFailure {
    /// Whether it means that the other side did not answer.
    fileprivate var isAbsence: Bool { [.unreachable, .nameNotResolved, .proxyRefused, .connectionClosed].contains(self) }
}

/// When the next attempt to connect is allowed: paced always, and exponentially later after failures (Reference/APNs.md#1-8).
struct ReconnectPacing {
    let pace: TimeAmount
    let initialBackOff: TimeAmount
    let maximumBackOff: TimeAmount
    /// The longest pause while the server is unreachable.
    let longestProbePause: TimeAmount
    private(set) var failures = 0
    private(set) var nextAttempt = NIODeadline.uptimeNanoseconds(0)
    /// The end of the pause after the latest failure.
    private var pauseEnd = NIODeadline.uptimeNanoseconds(0)

    init(
        pace: TimeAmount, initialBackOff: TimeAmount, maximumBackOff: TimeAmount, longestProbePause: TimeAmount = .seconds(3)
    ) {
        self.pace = pace
        self.initialBackOff = initialBackOff
        self.maximumBackOff = maximumBackOff
        self.longestProbePause = longestProbePause
    }

    mutating func attempted(at now: NIODeadline) { nextAttempt = max(nextAttempt, now + pace) }

    /// A connection proved useful: APNs took a push on it.
    mutating func succeeded() { failures = 0 }

    /// A connection that was of use ended soon after it began: the next one does not begin sooner than the first pause allows, or a
    /// service that ends every connection after a push would see ten new ones a second.
    mutating func endedEarly(begun: NIODeadline) { nextAttempt = max(nextAttempt, begun + initialBackOff) }

    /// An attempt failed, or a connection ended without having been of use. `chance` between 0 and 1 is the jitter, which
    /// takes away up to half of the pause. Failures during the pause do not count: connections that end together have one cause.
    ///
    /// - Parameter isAway: whether nothing answered. Then the pause stays short.
    mutating func failed(at now: NIODeadline, chance: Double, isAway: Bool = false) {
        guard now >= pauseEnd else { return }
        let doubled = initialBackOff.nanoseconds << Int64(min(failures, 16))
        let longest = isAway ? min(longestProbePause, maximumBackOff) : maximumBackOff
        let pause = min(max(doubled, 0), longest.nanoseconds)
        // However long the other side was away, what it says on its return is a first failure or nearly so.
        failures = isAway ? max(failures, min(failures + 1, 2)) : failures + 1
        let jittered = Double(pause) * (1 - 0.5 * min(max(chance, 0), 1))
        pauseEnd = now + .nanoseconds(Int64(jittered))
        nextAttempt = max(nextAttempt, pauseEnd)
    }
}
