#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a PostgreSQL database is: `postgres://` or `postgresql://`, as every client of PostgreSQL reads it. What it leaves out
/// comes from the environment (`PGHOST`, `PGPASSWORD`, `PGSSLMODE` and so on), from the password file, or from the library's
/// defaults.
///
/// The text is checked before the library sees it, because the library repeats parts of what it cannot read in its messages,
/// and a password with an unescaped character is read as something else. Printing shows neither password nor parameters.
public struct DatabaseURL: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Why a text is no such URL. No case carries a part of the text.
    public enum Problem: Error, Hashable, Sendable {
        case scheme
        case host
        case userInfo
        case path
        case parameters

        /// The rule that was broken, for error messages.
        public var rule: String {
            switch self {
            case .scheme: "it must begin with postgres:// or postgresql://"
            case .host:
                "after the user come host names or addresses and ports; other characters of a password are written as %40 for @, %2F for /"
            case .userInfo: "user and password may hold letters, digits and -._~!$&'()*+,;= only, all others as % and two digits"
            case .path: "after the host comes / and the name of the database"
            case .parameters: "after ? come name=value pairs, joined by &"
            }
        }
    }

    /// As given. Contains the password.
    let text: String
    /// The password, also as it stands in the text, to keep both out of messages.
    private let secrets: [String]

    /// `postgres://user@host/name`, without password and parameters.
    public let description: String

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    public init(_ text: String) throws(Problem) {
        guard let scheme = ["postgres://", "postgresql://"].first(where: text.hasPrefix) else { throw .scheme }
        let rest = text.dropFirst(scheme.count)
        let beforeQuery = rest.prefix { $0 != "?" }
        let authority = beforeQuery.prefix { $0 != "/" }
        let parts = authority.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let (user, host) = parts.count == 2 ? (parts[0], parts[1]) : ("", authority)
        guard Self.areHosts(host) else { throw .host }
        let credentials = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard credentials.allSatisfy({ Self.isEscaped($0, besides: "!$&'()*+,;=") }) else { throw .userInfo }
        let path = beforeQuery.dropFirst(authority.count)
        guard path.isEmpty || Self.isEscaped(path.dropFirst(), besides: "$") else { throw .path }
        let pairs = try Self.pairs(rest.dropFirst(beforeQuery.count))
        self.text = text
        let password = credentials.count == 2 ? String(credentials[1]) : nil
        secrets = ([password] + pairs.filter { $0.name == "password" || $0.name == "sslpassword" }.map(\.value))
            .compactMap(\.self).flatMap { [$0, $0.removingPercentEncoding ?? $0] }.filter { !$0.isEmpty }
        description = scheme + (credentials.first.map { $0.isEmpty ? "" : "\($0)@" } ?? "") + host + path
    }

    /// The text without what is secret in this URL.
    func scrubbed(_ message: String) -> String {
        secrets.reduce(message) { $0.replacingOccurrences(of: $1, with: "(secret)") }
    }

    private static func pairs(_ query: Substring) throws(Problem) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for part in query.dropFirst().split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty, sides[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "_") }),
                isEscaped(sides[1], besides: "/:,@=")
            else { throw .parameters }
            pairs.append((String(sides[0]), String(sides[1])))
        }
        return pairs
    }

    /// Host names, IPv4 addresses, IPv6 addresses in brackets, percent-encoded folders of sockets; each with a port or not.
    private static func areHosts(_ text: Substring) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { host in
            var name = host
            if let end = host.lastIndex(of: "]"), host.first == "[" {
                let inside = host[host.index(after: host.startIndex)..<end]
                guard inside.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." || $0 == "%" }) else { return false }
                let rest = host[host.index(after: end)...]
                return rest.isEmpty || (rest.first == ":" && isPort(rest.dropFirst()))
            }
            if let colon = host.lastIndex(of: ":") {
                guard isPort(host[host.index(after: colon)...]) else { return false }
                name = host[..<colon]
            }
            return isEscaped(name, besides: "")
        }
    }

    private static func isPort(_ text: Substring) -> Bool { text.isEmpty || Int(text).map { (1...65_535).contains($0) } == true }

    private static func isEscaped(_ text: Substring, besides others: String) -> Bool {
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let character = Character(Unicode.Scalar(byte))
            if character == "%" {
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    [high, low].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }), [high, low] != [48, 48]
                else { return false }
            } else if !(byte < 128 && (character.isLetter || character.isNumber || "-._~".contains(character)))
                && !others.contains(character)
            {
                return false
            }
        }
        return true
    }
}

/// Timeouts and limits. The defaults are those of a node.
public struct PostgresLimits: Hashable, Sendable {
    public var writers = 2
    public var readers = 6
    /// How long connecting may take; whole seconds, at least 2.
    public var connect: Duration = .seconds(5)
    /// How long the server works on one statement before it gives up.
    public var statement: Duration = .seconds(15)
    /// How long a transaction waits for a lock of another before it makes room for others. It is retried until `statement` after its
    /// request.
    public var lock: Duration = .seconds(2)
    /// How long a write with conflicts waits for its turn on a connection before it makes room for others and asks again. More than
    /// `lock`: each write before it may need that long, and a write that times out loses its place.
    public var turn: Duration = .seconds(5)
    /// How long after its request a write may be committed; then it is rolled back. Readers of rows with many writers rely on it.
    public var life: Duration = .seconds(60)
    /// How long work waits for a connection before it is refused.
    public var queue: Duration = .seconds(10)
    /// How many reads, and how many writes, may wait; more are refused.
    public var waiting = 4096
    /// How many writes share a commit at most.
    public var batch = 128
    /// How long a write with conflicts is retried.
    public var conflict: Duration = .seconds(10)

    /// How long a cancelled caller waits for its answer, so that leases can be released at the end of a process.
    public var grace: Duration = .seconds(1)

    /// The timeout for an answer: longer than the server's own, so that the server's error comes first.
    var answer: Duration { statement + statement / 5 + .seconds(1) }

    /// The timeout for a lock: shorter than the statement's, so that the server reports the lock first.
    var lockTimeout: Duration { min(lock, statement / 5) }
    /// The timeout for a turn: shorter than the statement's, so that the server reports the lock first.
    var turnTimeout: Duration { min(turn, statement / 3) }
    /// The lock timeout of writes while other work is known to wait for locks.
    let shortLockTimeout: Duration = .milliseconds(50)
    /// The lock timeout of reads then, and of the writes of a group in which one has waited.
    let minimalLockTimeout: Duration = .milliseconds(10)
    /// How long after its request work may begin.
    var begin: Duration { queue + statement }

    public init() {}

    /// The defaults with so many connections, at least two; one in four writes.
    public init(connections: Int) {
        writers = max(1, connections / 4)
        readers = max(1, connections - writers)
    }
}

/// What stands between this program and the database.
public enum DatabasePooler: String, Hashable, Sendable, CaseIterable {
    /// Nothing, or a pooler that gives each connection one of the server's for as long as it lasts.
    case session
    /// A pooler that gives one for each transaction: what is prepared or listened to on one is not there on the next.
    case transaction
}
