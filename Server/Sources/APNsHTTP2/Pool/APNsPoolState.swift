import APNsProtocol
import NIOCore

/// The decisions of a connection pool, without connections: what is there, and whether one more is wanted.
struct APNsPoolState {
    enum Phase: Equatable {
        case connecting
        /// Usable; `hasAnswered` once a request was answered on it, which ends the warm-up.
        case ready(hasAnswered: Bool)
        case draining
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
    private(set) var phases: [(id: Int, phase: Phase)] = []
    private(set) var pacing: ReconnectPacing
    private(set) var isStopping = false
    /// Why the last attempt failed; cleared by the next answer.
    private(set) var lastFailure: APNsFailure?
    private var refusedUntil: NIODeadline?
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
        let coming = count { $0 == .connecting || $0 == .ready(hasAnswered: false) }
        let isMeasured = wanted.map { occupied > coming && occupied < $0 } ?? false
        // One at a time, unless it was measured that more are needed: the one that is coming will show it.
        guard coming == 0 || isMeasured else { return .none }
        // As many as the load needs are there: they get the time to work off what waits.
        if let wanted, occupied >= wanted, occupied > 0 { return .none }
        // Time before the latest connection was of use does not count: it was spent on making that connection.
        let scalingFrom = occupied == 0 || isMeasured ? now : max(waitingSince, lastGrowth) + queueBeforeScaling
        let earliest = max(scalingFrom, pacing.nextAttempt)
        guard now >= earliest else { return .wait(until: earliest) }
        pacing.attempted(at: now)
        let id = nextID
        nextID += step
        phases.append((id, .connecting))
        return .connect(id)
    }

    mutating func ready(_ id: Int) { set(id, .ready(hasAnswered: false)) }

    /// A request was answered on the connection.
    mutating func answered(_ id: Int, at now: NIODeadline) {
        guard phase(of: id) == .ready(hasAnswered: false) else { return }
        lastGrowth = now
        set(id, .ready(hasAnswered: true))
        pacing.succeeded()
        lastFailure = nil
    }

    /// Takes no more pushes there; a replacement may be made at once.
    mutating func draining(_ id: Int) { set(id, .draining) }

    /// A connection is gone. One that was of no use makes the next attempt wait.
    mutating func closed(_ id: Int, failure: APNsFailure, at now: NIODeadline, chance: Double) {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return }
        switch phases.remove(at: index).phase {
        case .connecting, .ready(hasAnswered: false): failed(failure, at: now, chance: chance)
        case .ready(hasAnswered: true), .draining: break
        }
    }

    /// The server asked for a pause, or something failed that connecting again at once would only repeat.
    mutating func failed(_ failure: APNsFailure, at now: NIODeadline, chance: Double) {
        lastFailure = failure
        pacing.failed(at: now, chance: chance)
    }

    /// APNs refuses the credential: no reconnecting in a loop (APNs reference 1.7).
    mutating func credentialRefused(at now: NIODeadline) {
        lastFailure = .credentialRefused
        refusedUntil = now + credentialPause
    }

    mutating func stop() { isStopping = true }

    private mutating func set(_ id: Int, _ phase: Phase) {
        guard let index = phases.firstIndex(where: { $0.id == id }) else { return }
        phases[index].phase = phase
    }
}
