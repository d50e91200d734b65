import SQLStorage

/// What went wrong at a statement or a connection, with what may be done about it.
struct PostgresFault: Error, Hashable {
    enum Kind: Hashable {
        /// Another transaction was in the way; the same work may succeed when it is repeated.
        case conflict
        /// A unique rule; a transaction that could not be seen yet may have been the cause.
        case duplicate
        /// A prepared statement is not where it was made: a pooler has changed the server's side of the connection.
        case statementsLost
        /// The connection is gone.
        case broken
        /// No connection could be made.
        case unreachable
        /// A deadline was missed.
        case late
        /// Another transaction holds a lock, and goes on holding it.
        case blocked
        /// The server cannot do it now.
        case unavailable
        /// The statement is wrong, or the database is damaged.
        case refused
    }

    let kind: Kind
    /// What a caller is told.
    let fault: SQLFault

    static func broken(_ reason: String) -> PostgresFault {
        PostgresFault(kind: .broken, fault: .unavailable(reason: "connection_failure: \(reason)"))
    }

    /// With what to mend where that is known; then nobody has to wait for the server.
    static func unreachable(_ reason: String, advice: String? = nil) -> PostgresFault {
        guard let advice else {
            return PostgresFault(kind: .unreachable, fault: .unavailable(reason: "connection_failure: \(reason)"))
        }
        return PostgresFault(kind: .unreachable, fault: .misconfigured(reason: "\(reason) (\(advice))"))
    }

    static func late(_ reason: String) -> PostgresFault {
        PostgresFault(kind: .late, fault: .unavailable(reason: "query_canceled: \(reason)"))
    }

    /// From the five characters of the server's error and its message. Messages of class 22 may quote a value and are left out.
    ///
    /// `isPrepared` tells a statement that the server had prepared before.
    init(state: String, message: String, isPrepared: Bool = false) {
        let name = Self.names[state] ?? state
        let shown = state.hasPrefix("22") || state.hasPrefix("23") ? "the value does not fit" : message
        let unavailable = SQLFault.unavailable(reason: "\(name): \(shown)")
        switch state {
        case "40001", "40P01": self.init(kind: .conflict, fault: unavailable)
        case "55P03": self.init(kind: .blocked, fault: unavailable)
        case "23505": self.init(kind: .duplicate, fault: .duplicate)
        case "26000", "42P05": self.init(kind: .statementsLost, fault: unavailable)
        // A change of the schema under prepared statements: a new connection has none. The server's words for it are of any language;
        // what it could never do, it has refused to prepare.
        case "0A000" where isPrepared: self.init(kind: .broken, fault: unavailable)
        // A zero byte in a text; a text that is too long for an index.
        case "22021", "22P05", "54000": self.init(kind: .refused, fault: .unstorable)
        case "57014": self.init(kind: .late, fault: unavailable)
        // The server is going, or is no longer the one that takes writes: look for it anew.
        case "57P01", "57P02", "57P03", "57P04", "25006": self.init(kind: .broken, fault: unavailable)
        // It, or a pooler, has ended a connection that lay idle or was in its way: a new one is as good.
        case "57P05", "25P03", "25P04", "08000", "08003", "08006", "08P01": self.init(kind: .broken, fault: unavailable)
        case let state where ["08", "53", "57", "58", "28"].contains(state.prefix(2)):
            self.init(kind: .unavailable, fault: unavailable)
        default:
            self.init(
                kind: .refused, fault: .refused(code: Int(state, radix: 36) ?? 0, reason: "\(name): \(shown)"))
        }
    }

    init(kind: Kind, fault: SQLFault) {
        self.kind = kind
        self.fault = fault
    }

    /// The names of the PostgreSQL documentation, by which people find what to do.
    private static let names = [
        "25006": "read_only_sql_transaction", "28P01": "invalid_password", "28000": "invalid_authorization_specification",
        "40001": "serialization_failure", "40P01": "deadlock_detected", "42501": "insufficient_privilege",
        "53100": "disk_full", "53200": "out_of_memory", "53300": "too_many_connections", "55P03": "lock_not_available",
        "57014": "query_canceled", "57P01": "admin_shutdown", "57P02": "crash_shutdown", "57P03": "cannot_connect_now",
        "57P04": "database_dropped", "57P05": "idle_session_timeout", "25P03": "idle_in_transaction_session_timeout",
        "58030": "io_error",
    ]
}
