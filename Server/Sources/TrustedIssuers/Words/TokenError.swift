/// Why a sign-in token was not accepted, for the caller, the log and the audit.
///
/// Nothing in it comes from the token; the issuer is the configured one. A reason does not help to forge a token: what depends on
/// the issuer's secrets is the signature alone, and the reasons after it need a valid one.
public struct TokenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed list of reasons, in the order of the checks.
    public enum Reason: String, CaseIterable, Sendable {
        case tooLong = "too-long"
        case malformed = "malformed"
        case encrypted = "encrypted"
        case criticalHeader = "critical-header"
        case compressed = "compressed"
        case unknownIssuer = "unknown-issuer"
        case algorithm = "algorithm"
        case keyID = "key-id"
        case keysUnavailable = "keys-unavailable"
        case unknownKey = "unknown-key"
        case ambiguousKey = "ambiguous-key"
        case keyMismatch = "key-mismatch"
        case signature = "signature"
        case audience = "audience"
        case client = "client"
        case expiryMissing = "expiry-missing"
        case expired = "expired"
        case notYetValid = "not-yet-valid"
        case issueTime = "issue-time"
        case lifetime = "lifetime"
        case kind = "kind"
        case boundToKey = "bound-to-key"
        case nonce = "nonce"
        case subject = "subject"
        case userClaim = "user-claim"

        /// The reason in words.
        public var text: String {
            switch self {
            case .tooLong: "the token has more than 8 KiB"
            case .malformed: "the token is not three base64url parts with one JSON object each in the first two"
            case .encrypted: "the token is encrypted, and only signed ones are taken"
            case .criticalHeader: "the header has crit, and no extension is supported"
            case .compressed: "the header has zip, and compression is not supported"
            case .unknownIssuer: "the claim iss names no trusted issuer"
            case .algorithm: "the header's alg is not among the algorithms of the issuer"
            case .keyID: "the header's kid is not a text of at most 256 bytes"
            case .keysUnavailable: "no keys of the issuer could be fetched so far, or the last are too old"
            case .unknownKey: "the issuer's key set has no usable key for this kid or alg"
            case .ambiguousKey: "the header has no kid, and several keys of the issuer fit its alg"
            case .keyMismatch: "the key of this kid is for another algorithm"
            case .signature: "the signature is not valid"
            case .audience: "the claim aud has none of the audiences of the issuer's settings"
            case .client: "the claim azp or client_id is not an allowed client"
            case .expiryMissing: "the claim exp is missing or not a number"
            case .expired: "the token has expired"
            case .notYetValid: "the token is not valid yet, or its claim nbf is not a number"
            case .issueTime: "the claim iat is missing, not a number, or in the future"
            case .lifetime: "the token's life is longer than the issuer's settings allow"
            case .kind: "the token is of another kind than the issuer's settings take"
            case .boundToKey: "the token is bound to a key of its holder by the claim cnf, and is no bearer token"
            case .nonce: "the claim nonce is not that of the request for the token"
            case .subject: "the claim sub is not a text of 1 to 255 bytes without control characters"
            case .userClaim: "the claim that names the user is missing or not a text"
            }
        }
    }

    public let reason: Reason
    /// The issuer as configured; `nil` when the token got no further than to name one.
    public let issuer: String?

    /// Creates an error.
    public init(_ reason: Reason, issuer: String? = nil) {
        self.reason = reason
        self.issuer = issuer
    }

    /// Whether the same token may be accepted later, as nothing is known against it: the keys are missing.
    public var isOutage: Bool { reason == .keysUnavailable }

    public var description: String { issuer.map { "\($0): \(reason.text)" } ?? reason.text }
}
