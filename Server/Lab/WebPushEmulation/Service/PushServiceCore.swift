import RichPushModel
import Synchronization

/// The service behind the connections. Thread-safe; every decision is made in one visit to the state.
final class PushServiceCore: Sendable {
    /// Takes the instructions to one connection. It is called under the lock, so that they keep their order, and only hands them on.
    typealias Sink = @Sendable (BrowserInstruction.Action) -> Void

    private struct Guarded: Sendable {
        var state: PushServiceState
        var sinks: [Int: Sink] = [:]
        var refusesConnections = false
    }

    let settings: LocalWebPushSettings
    let clock: any ServiceClock
    private let guarded: Mutex<Guarded>

    init(settings: LocalWebPushSettings, clock: any ServiceClock, random: any RandomNumberGenerator & Sendable) {
        (self.settings, self.clock) = (settings, clock)
        guarded = Mutex(
            Guarded(
                state: PushServiceState(origin: settings.origin(port: settings.port), bounds: settings.bounds, random: random)))
    }

    /// Whether connections end as soon as they are there.
    var refusesConnections: Bool {
        get { guarded.withLock { $0.refusesConnections } }
        set { guarded.withLock { $0.refusesConnections = newValue } }
    }

    /// Reads or changes the state, with nothing to say to browsers.
    func with<Result: Sendable>(_ body: (inout sending PushServiceState) throws -> sending Result) rethrows -> Result {
        try guarded.withLock { try body(&$0.state) }
    }

    /// Changes the state and passes on what follows for connections.
    private func instruct(_ body: (inout PushServiceState, Timestamp) -> [BrowserInstruction]) {
        let now = clock.now
        guarded.withLock { guarded in Self.pass(body(&guarded.state, now), in: &guarded) }
    }

    private static func pass(_ instructions: [BrowserInstruction], in guarded: inout Guarded) {
        for instruction in instructions {
            guarded.sinks[instruction.connection]?(instruction.action)
            if case .close = instruction.action { guarded.sinks[instruction.connection] = nil }
        }
    }

    // MARK: Browsers

    /// A browser has connected. Returns the number of its connection.
    func open(_ sink: @escaping Sink) -> Int {
        guarded.withLock { guarded in
            let connection = guarded.state.open()
            guarded.sinks[connection] = sink
            return connection
        }
    }

    func receive(_ text: String, on connection: Int) {
        instruct { state, now in state.receive(text, on: connection, now: now) }
    }

    func helloIsDue(_ connection: Int) { instruct { state, _ in state.helloIsDue(connection) } }

    /// Ends a connection for a reason that its frames show.
    func close(_ connection: Int, _ reason: BrowserClose) { instruct { state, _ in state.close(connection, reason) } }

    /// A connection is gone.
    func closed(_ connection: Int) {
        guarded.withLock { guarded in
            guarded.state.closed(connection)
            guarded.sinks[connection] = nil
        }
    }

    func closeAll(_ reason: BrowserClose) {
        instruct { state, _ in state.connections.keys.sorted().flatMap { state.close($0, reason) } }
    }

    // MARK: Senders

    func judge(_ request: SenderRequest) -> SenderVerdict {
        let vapid = request.header("authorization").flatMap(VAPIDStatement.init(authorization:))
        let now = clock.now
        return guarded.withLock { guarded in
            let verdict = guarded.state.judge(request, vapid: vapid, now: now)
            Self.pass(verdict.instructions, in: &guarded)
            return verdict
        }
    }

    /// Whether the connection ends in the middle of this body, of which nothing was read yet.
    func failsInBody(_ request: SenderRequest) -> Bool {
        let now = clock.now
        return with { $0.failsInBody(request, now: now) }
    }

    // MARK: The operator

    /// Forgets a user, as Mozilla's service does with one that has too many messages.
    func reset(_ uaid: String) {
        instruct { state, _ in
            let instructions = state.users[uaid]?.connection.map { state.close($0, .userReset) } ?? []
            if state.users.removeValue(forKey: uaid) != nil { state.keptRevision += 1 }
            return instructions
        }
    }
}
