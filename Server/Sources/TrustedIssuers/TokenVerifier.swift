import Logging
import RichPushModel

/// Verifies the sign-in tokens of the trusted issuers by [RFC 7519](https://www.rfc-editor.org/rfc/rfc7519#section-7.2) and
/// [RFC 8725](https://www.rfc-editor.org/rfc/rfc8725).
public final class TokenVerifier: Sendable {
    private let clock: any ServiceClock
    /// By the bytes of the issuer.
    let caches: [[UInt8]: KeySetCache]

    /// Creates a verifier. Of two issuers with one name the first counts; `TrustedIssuer.doubled(in:)` finds such.
    public init(
        issuers: [TrustedIssuer], fetching: any KeySetFetching, store: (any KeySetStore)?, clock: any ServiceClock, logger: Logger
    ) async {
        self.clock = clock
        var caches: [[UInt8]: KeySetCache] = [:]
        for issuer in issuers where caches[Array(issuer.issuer.utf8)] == nil {
            caches[Array(issuer.issuer.utf8)] = await KeySetCache(
                issuer: issuer, fetching: fetching, store: store, clock: clock, logger: logger)
        }
        self.caches = caches
    }

    /// Keeps the keys of all issuers fetched until the task is cancelled. Call it once. Before it runs, a token with an unknown key
    /// waits; after it has ended, such a token is refused.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for cache in caches.values { group.addTask { await cache.run() } }
        }
    }

    /// How the keys of each issuer stand, in the order of their names.
    public var standings: [KeySetStanding] { caches.values.map(\.standing).sorted { $0.issuer < $1.issuer } }

    /// Verifies a token and says whom it names. It may wait for a fetch of the issuer's keys.
    ///
    /// - Parameter nonce: what the claim `nonce` must be, of an ID token that this server asked for
    ///   ([OpenID Connect Core section 3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)).
    public func verify(_ token: String, nonce: String? = nil) async throws(TokenError) -> VerifiedIdentity {
        let token = try CompactToken(token)
        // Nothing that a token says counts before its signature, except by which issuer's rules it is judged.
        guard let named = token.claims["iss"]?.text, let cache = caches[Array(named.utf8)] else {
            throw TokenError(.unknownIssuer)
        }
        do throws(TokenError) {
            return try await identity(in: token, by: cache, nonce: nonce)
        } catch { throw TokenError(error.reason, issuer: cache.issuer.issuer) }
    }

    private func identity(
        in token: CompactToken, by cache: KeySetCache, nonce: String?
    ) async throws(TokenError) -> VerifiedIdentity {
        let issuer = cache.issuer
        guard let algorithm = token.algorithm, issuer.algorithms.contains(algorithm) else { throw TokenError(.algorithm) }
        let key = try await cache.key(id: try token.keyID(), algorithm: algorithm)
        guard key.verifies(token.signature, over: token.signed) else { throw TokenError(.signature) }
        let checks = ClaimChecks(issuer: issuer, claims: token.claims, type: token.header["typ"], now: clock.now)
        try checks.checkAudience()
        try checks.checkClient()
        let times = try checks.times()
        try checks.checkKind()
        if let nonce { try checks.checkNonce(nonce) }
        return try VerifiedIdentity(checks: checks, times: times)
    }
}
