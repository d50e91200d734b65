import Logging
import SQLStorage
import Synchronization

/// What is known of the way to the server, shared by all connections; tells the log when that changes.
final class ServerDoor: Sendable {
    private struct State {
        var gate = ReconnectGate()
        /// Of the last try, which is also what those are told who come too soon after it.
        var lastFault: PostgresFault?
        var sendsTexts = false
    }

    private let state: Mutex<State>
    private let logger: Logger

    init(_ pooler: DatabasePooler, logger: Logger) {
        state = Mutex(State(sendsTexts: pooler == .transaction))
        self.logger = logger
    }

    /// Opens a connection, unless the server was away a moment ago.
    func enter(_ context: PostgresLink.Context) throws -> PostgresLink {
        let refusal = state.withLock { state -> PostgresFault? in
            guard case .refuse(let reason) = state.gate.ask(at: context.clock.uptime) else { return nil }
            return state.lastFault ?? .unreachable(reason)
        }
        if let refusal { throw refusal }
        do {
            let link = try PostgresLink(context)
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
