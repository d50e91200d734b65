import SQLStorage

/// What went wrong at a statement or a connection, with what may be done about it.
struct PostgresFault: Error, Hashable {
    enum Kind: Hashable {
        /// A conflict with another transaction; a retry may succeed.
        case conflict
        /// A unique rule; a transaction that could not be seen yet may have been the cause.
        case duplicate
        /// A prepared statement is not where it was made: a pooler has changed the server's side of the connection.
        case statementsLost
        case broken
        case unreachable
        case late
        /// Another transaction holds a lock, and goes on holding it.
        case blocked
        /// The server cannot do it now.
        case unavailable
        /// The statement is wrong, or the database is damaged.
        case refused
    }

    let kind: Kind
    /// The fault for the caller.
    let fault: SQLFault

    static func broken(_ reason: String) -> PostgresFault {
        PostgresFault(kind: .broken, fault: .unavailable(reason: "connection_failure: \(reason)"))
    }

    /// With advice where it is known; then a retry is useless and the fault is `misconfigured`.
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
    /// `isPrepared` says that the server had prepared the statement before.
    init(state: String, message: String, isPrepared: Bool = false) {
        let name = Self.names[state] ?? state
        let shown = state.hasPrefix("22") || state.hasPrefix("23") ? "the value does not fit" : message
        let unavailable = SQLFault.unavailable(reason: "\(name): \(shown)")
        switch state {
        case "40001", "40P01": self.init(kind: .conflict, fault: unavailable)
        case "55P03": self.init(kind: .blocked, fault: unavailable)
        case "23505": self.init(kind: .duplicate, fault: .duplicate)
        case "26000", "42P05": self.init(kind: .statementsLost, fault: unavailable)
        // A change of the schema under prepared statements: a new connection has none. The server's message may be in any language.
        // Statements that it does not support fail when they are prepared.
        case "0A000" where isPrepared: self.init(kind: .broken, fault: unavailable)
        // A zero byte in a text; a text that is too long for an index.
        case "22021", "22P05", "54000": self.init(kind: .refused, fault: .unstorable)
        case "57014": self.init(kind: .late, fault: unavailable)
        // The server is stopping, or no longer takes writes: connect again.
        case "57P01", "57P02", "57P03", "57P04", "25006": self.init(kind: .broken, fault: unavailable)
        // The server or a pooler has closed the connection, for example because it was idle: a new one is as good.
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

    /// The names in the PostgreSQL documentation, so that operators can look them up.
    private static let names = [
        "25006": "read_only_sql_transaction", "28P01": "invalid_password", "28000": "invalid_authorization_specification",
        "40001": "serialization_failure", "40P01": "deadlock_detected", "42501": "insufficient_privilege",
        "53100": "disk_full", "53200": "out_of_memory", "53300": "too_many_connections", "55P03": "lock_not_available",
        "57014": "query_canceled", "57P01": "admin_shutdown", "57P02": "crash_shutdown", "57P03": "cannot_connect_now",
        "57P04": "database_dropped", "57P05": "idle_session_timeout", "25P03": "idle_in_transaction_session_timeout",
        "58030": "io_error",
    ]
}

/// What an operator can do about a connection that could not be made, by the error message of the client library or the server.
///
/// The advice names settings. An unknown message gets none.
enum ConnectionAdvice {
    /// What to correct; `nil` for an unknown message, and for a server that is down or starting.
    static func advice(on message: String) -> String? {
        table.first { $0.words.allSatisfy(message.contains) }?.advice
    }

    private static let table: [(words: [String], advice: String)] = [
        (
            ["certificate verify failed"],
            "the server's certificate is not from an authority that is trusted: sslrootcert has to name the file of the right one"
        ),
        (
            ["does not match host name"],
            "name the host in database-url by the name in its certificate, or give the server a certificate for this one"
        ),
        (
            ["root certificate file"],
            "the file of the authority is what sslrootcert in database-url names, and ~/.postgresql/root.crt without it"
        ),
        (["no pg_hba.conf entry", "SSL encryption"], "let this host, user and database in at the server, in pg_hba.conf"),
        (
            ["no pg_hba.conf entry", "no encryption"],
            """
            the server lets these in with TLS only, or not at all: put sslmode=require, or better verify-full, into database-url, or \
            let this host, user and database in at the server, in pg_hba.conf
            """
        ),
        (["server does not support SSL"], "switch TLS on at the server (ssl = on), or take sslmode out of database-url"),
        (
            ["password authentication failed"],
            "user and password are those of database-url, else of PGUSER, PGPASSWORD or the password file; correct them there"
        ),
        (
            ["no password supplied"],
            "put the password into database-url, PGPASSWORD or a password file that only its owner can read"
        ),
        (["no pg_hba.conf entry"], "let this host, user and database in at the server, in pg_hba.conf"),
        (["definition of service"], "the service is looked for in ~/.pg_service.conf, or where PGSERVICEFILE says"),
        (["role \"", "does not exist"], "make the user at the server with createuser, or name another in database-url"),
        (["database \"", "does not exist"], "make the database with createdb, or name another in database-url"),
    ]
}
