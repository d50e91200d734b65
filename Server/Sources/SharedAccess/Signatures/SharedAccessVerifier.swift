import Crypto
import Synchronization

/// Verifies tokens and remembers those with a good signature: most clients sign once and use the token for many requests.
///
/// Remembered is only what does not change, the signature's fit with the very keys it was checked with. Expiry, host and path are
/// looked at for each request; a rule that was changed, or a key that was exchanged, is another list of rules, checked anew. A
/// token that no key has signed is never remembered, so nobody without a key fills the memory. Tokens are found by their digests,
/// which are compared in constant time: how long a search takes tells nothing of a token that somebody else has.
public final class SharedAccessVerifier: Sendable {
    /// The most tokens that are remembered.
    public static let capacity = 1_024
    /// Longer tokens are not remembered: their audience is the address of one request.
    public static let maximumLength = 1_024
    /// Against so many lists of rules a token's result is kept: those of all hubs, and those of some hubs.
    private static let listLimit = 4

    private struct Known: Sendable {
        let signature: SharedAccessSignature
        let address: SharedAccessAudience?
        var results: [(rules: [AccessRule], grant: AccessGrant?)] = []

        init(_ header: String) throws(SharedAccessFault) {
            signature = try SharedAccessSignature(header: header)
            address = SharedAccessAudience(encoded: signature.audience)
        }
    }

    private let known = Mutex<[SHA256.Digest: Known]>([:])

    /// How many tokens are remembered.
    var count: Int { known.withLock { $0.count } }

    /// Creates a verifier that knows no tokens.
    public init() {}

    /// Decides as `SharedAccessSignature.verify` does.
    public func verify(
        header: String?, for request: SharedAccessRequest, rules: [AccessRule]
    ) -> Result<AccessGrant, SharedAccessFault> {
        guard let header, header.utf8.count <= Self.maximumLength else {
            return SharedAccessSignature.verify(header: header, for: request, rules: rules)
        }
        let name = SHA256.hash(data: Array(header.utf8))
        let token: Known
        do throws(SharedAccessFault) {
            if let found = known.withLock({ $0[name] }) { token = found } else { token = try Known(header) }
        } catch {
            return .failure(error)
        }
        let earlier = token.results.first { $0.rules == rules }
        let grant = earlier.map(\.grant) ?? token.signature.signingGrant(among: rules)
        if earlier == nil, grant != nil || !token.results.isEmpty { remember(name, token, rules, grant) }
        guard let grant else { return .failure(.invalidSignature) }
        return token.signature.admission(of: request, with: grant, address: token.address)
    }

    private func remember(_ name: SHA256.Digest, _ token: Known, _ rules: [AccessRule], _ grant: AccessGrant?) {
        var token = token
        // The oldest goes: that of a hub's former keys, for example.
        if token.results.count >= Self.listLimit { token.results.removeFirst() }
        token.results.append((rules, grant))
        known.withLock { known in
            if known[name] == nil, known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[name] = token
        }
    }
}
