/// Who may try to connect while the server is away: one at a time, with pauses that grow. The others are refused at once, so that
/// nobody waits for a server that is known to be gone.
struct ReconnectGate: Hashable {
    enum Instruction: Hashable {
        case connect
        /// The last try failed for this reason.
        case refuse(String)
    }

    private(set) var failures = 0
    private var reason = ""
    private var notBefore: Duration = .zero
    private var isTrying = false

    private static let base: Duration = .milliseconds(100)
    private static let cap: Duration = .seconds(5)

    /// Whether the server was away at the last look.
    var isClosed: Bool { failures > 0 }

    /// Someone wants a connection.
    mutating func ask(at uptime: Duration) -> Instruction {
        guard isClosed else { return .connect }
        guard !isTrying, uptime >= notBefore else { return .refuse(reason) }
        isTrying = true
        return .connect
    }

    /// A connection was made; whether the server was away before.
    mutating func succeeded() -> Bool {
        defer { self = ReconnectGate() }
        return isClosed
    }

    /// No connection could be made; whether that is news. `jitter` is 0 to 1 and takes up to half of the pause away.
    mutating func failed(_ reason: String, at uptime: Duration, jitter: Double) -> Bool {
        failures += 1
        isTrying = false
        self.reason = reason
        let pause = min(Self.base * (1 << min(failures - 1, 10)), Self.cap)
        notBefore = uptime + pause * (1 - min(max(jitter, 0), 1) / 2)
        return failures == 1
    }
}
