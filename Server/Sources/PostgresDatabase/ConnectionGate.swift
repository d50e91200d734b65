import Logging
import SQLStorage
import Synchronization

/// Whether the server can be reached, shared by all connections; logs changes.
final class ConnectionGate: Sendable {
    private struct State {
        var gate = ReconnectGate()
        /// The fault of the last try, also thrown for tries that are refused during the pause after it.
        var lastFault: PostgresFault?
        var sendsTexts = false
    }

    private let state: Mutex<State>
    private let logger: Logger

    init(_ pooler: DatabasePooler, logger: Logger) {
        state = Mutex(State(sendsTexts: pooler == .transaction))
        self.logger = logger
    }

    /// Opens a connection, unless the server could not be reached a moment ago.
    func enter(_ context: PostgresConnection.Context) throws -> PostgresConnection {
        let refusal = state.withLock { state -> PostgresFault? in
            guard case .refuse(let reason) = state.gate.ask(at: context.clock.uptime) else { return nil }
            return state.lastFault ?? .unreachable(reason)
        }
        if let refusal { throw refusal }
        do {
            let link = try PostgresConnection(context)
            if state.withLock({ $0.gate.succeeded() }) { logger.notice("The database answers again") }
            return link
        } catch let fault as PostgresFault {
            let reason = fault.fault.reason
            let isNews = state.withLock { state in
                state.lastFault = fault
                return state.gate.failed(reason, at: context.clock.uptime, jitter: .random(in: 0...1))
            }
            if isNews { logger.error("The database cannot be reached", metadata: ["error": "\(reason)"]) }
            throw fault
        }
    }

    var sendsTexts: Bool { state.withLock { $0.sendsTexts } }

    /// From now on every statement is sent with its text.
    func statementsAreLost() {
        let isNews = state.withLock { state in
            defer { state.sendsTexts = true }
            return !state.sendsTexts
        }
        guard isNews else { return }
        logger.notice(
            """
            A pooler does not keep prepared statements; they are sent with their text from now on. Set database-pooler to \
            transaction
            """)
    }
}

extension SQLFault {
    fileprivate var reason: String {
        if case .misconfigured(let reason) = self { return reason }
        guard case .unavailable(let reason) = self else { return "\(self)" }
        return reason.hasPrefix("connection_failure: ") ? String(reason.dropFirst("connection_failure: ".count)) : reason
    }
}

/// Allows one attempt to connect at a time while the server cannot be reached, with growing pauses. Other attempts are refused at
/// once, so that no caller waits for a server that is known to be down.
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

    /// Whether the last attempt failed.
    var isClosed: Bool { failures > 0 }

    mutating func ask(at uptime: Duration) -> Instruction {
        guard isClosed else { return .connect }
        guard !isTrying, uptime >= notBefore else { return .refuse(reason) }
        isTrying = true
        return .connect
    }

    /// A connection was made; returns whether the attempt before failed.
    mutating func succeeded() -> Bool {
        defer { self = ReconnectGate() }
        return isClosed
    }

    /// No connection could be made; returns whether this is the first failure. `jitter` is 0 to 1 and takes up to half of the pause away.
    mutating func failed(_ reason: String, at uptime: Duration, jitter: Double) -> Bool {
        failures += 1
        isTrying = false
        self.reason = reason
        let pause = min(Self.base * (1 << min(failures - 1, 10)), Self.cap)
        notBefore = uptime + pause * (1 - min(max(jitter, 0), 1) / 2)
        return failures == 1
    }
}
