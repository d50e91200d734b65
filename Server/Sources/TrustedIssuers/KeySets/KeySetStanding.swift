/// How an issuer's keys stand, for `/readyz`, metrics and log.
public struct KeySetStanding: Hashable, Sendable {
    /// Whether tokens can be verified.
    public enum State: String, Sendable {
        /// The keys are within their life, or come from a file.
        case current
        /// The keys are past their life and stay in use, since no others can be fetched.
        case outlived
        /// There are no keys, or they are too old: no token is accepted.
        case missing
    }

    public let issuer: String
    public let state: State
    /// How many keys are in use.
    public let keyCount: Int
    /// How many entries of the set are not used, by reason.
    public let skipped: [KeyEntryFault: Int]
    /// How long ago the set was fetched; `nil` without one and for a file.
    public let age: Duration?
    /// Fetches since the start, and how many of those failed.
    public let fetches: Int
    public let failures: Int
    /// Failures since the last success.
    public let failuresInARow: Int
    /// The last failure, while it is the last outcome.
    public let lastFailure: String?
    /// Tokens that named an unknown key within a minute of the last fetch, and so were refused without another.
    public let refusedUnknownKeys: Int
}
