/// One thing that `clarion doctor` looks at. It leaves nothing behind.
public struct DoctorCheck: Sendable {
    /// What a check came to.
    public enum Verdict: String, Sendable {
        case good
        /// Works, but somebody should know.
        case notice
        /// The server will not start or will not push.
        case bad
    }

    /// What was found, and what to do about it.
    public struct Finding: Hashable, Sendable {
        public var verdict: Verdict
        /// What was found, as a sentence without secrets.
        public var found: String
        /// How to mend it; absent when nothing is to be done.
        public var mend: String?

        static func good(_ found: String) -> Finding { Finding(verdict: .good, found: found) }
        static func notice(_ found: String, mend: String) -> Finding { Finding(verdict: .notice, found: found, mend: mend) }
        static func bad(_ found: String, mend: String) -> Finding { Finding(verdict: .bad, found: found, mend: mend) }
    }

    public let name: String
    /// Looks; takes at most a few seconds.
    public let look: @Sendable () async -> Finding

    /// Creates a check.
    public init(_ name: String, look: @escaping @Sendable () async -> Finding) {
        self.name = name
        self.look = look
    }
}
