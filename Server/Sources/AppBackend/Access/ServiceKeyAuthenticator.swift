import Logging
import RichPushModel
import ServiceErrors
import SharedAccess

/// Says which service calls. Costs one read at most every five seconds for each key, as for installation credentials, so that a key
/// that was revoked holds no longer than that.
final class ServiceKeyAuthenticator: Sendable {
    private let store: any BackendStore
    private let clock: any ServiceClock
    private let logger: Logger
    private let cache = VerifiedCredentials<Principal>(lifetime: BearerAuthenticator.recheckInterval)
    private let refusals: RefusalAudit
    private let pace = CallPace<UserID>()
    private let uses = UseNotes<Int64>()

    init(store: any BackendStore, clock: any ServiceClock, logger: Logger, refusals: RefusalAudit) {
        self.store = store
        self.clock = clock
        self.logger = logger
        self.refusals = refusals
    }

    /// Throws `unauthenticated` for a key that is malformed (`nil`), unknown, revoked or expired, which the detail distinguishes: to
    /// know that a key has ended, one needs the whole secret. Throws `forbidden` for an address that the key excludes, and
    /// `too-many-requests`. All but the last are audited, with the name of the key if there is one. `noting` gets what is left of the
    /// key's own limit, if it has one, also when nothing is.
    func authenticate(
        _ secret: PrefixedSecret?, from source: SourceAddress, noting note: (RequestAllowance) -> Void
    ) async throws -> Principal {
        let principal: Principal
        do {
            guard let secret else { throw Refusal(reason: "malformed", answer: Self.malformed) }
            principal = try await self.principal(of: secret, from: source)
        } catch let refusal as Refusal {
            await refusals.record(
                .accessRefused, by: .unknown(""), of: refusal.key.map { .account($0.account) }, from: source,
                subject: refusal.key?.name ?? "", details: "reason=\(refusal.reason)")
            throw refusal.answer
        }
        guard let key = principal.key else { throw Self.unknown }
        if let limit = key.requestsPerMinute {
            do { note(try pace.take(principal.userID, perMinute: limit, at: clock.uptime)) } catch {
                note(RequestAllowance(perMinute: limit, refusedFor: error.retryAfter ?? 60))
                throw ServiceError(
                    .tooManyRequests, "this service key may make \(limit) requests a minute", retryAfter: error.retryAfter)
            }
        }
        await noteUse(of: key, from: source)
        return principal
    }

    /// Forgets what was verified before.
    func forget() { cache.forget() }

    /// Why a key was refused: one word for the audit, and what the caller reads.
    private struct Refusal: Error {
        var reason: String
        /// The key, where the caller has the whole secret of one.
        var key: ServiceKey?
        var answer: ServiceError
    }

    private func principal(of secret: PrefixedSecret, from source: SourceAddress) async throws -> Principal {
        let principal = try await principal(of: secret)
        let networks = principal.key?.networks ?? []
        guard networks.isEmpty || networks.contains(where: { $0.contains(source.address) }) else {
            throw Refusal(
                reason: "network", key: principal.key,
                answer: ServiceError(.forbidden, "this service key may not be used from this address"))
        }
        return principal
    }

    private func principal(of secret: PrefixedSecret) async throws -> Principal {
        let digest = secret.digest
        if let known = cache.value(for: digest, at: clock.uptime), known.key?.holds(at: clock.now) == true { return known }
        guard let (key, account) = try await store.key(digest: digest) else {
            throw Refusal(reason: "unknown-key", answer: Self.unknown)
        }
        func refusal(_ reason: String, _ text: String) -> Refusal {
            Refusal(reason: reason, key: key, answer: ServiceError(.unauthenticated, text))
        }
        guard key.revokedAt == nil else { throw refusal("revoked", "this service key was revoked") }
        guard account.disabledAt == nil else { throw refusal("disabled", "the account of this service key is disabled") }
        guard key.holds(at: clock.now) else { throw refusal("expired", "this service key has expired") }
        let principal = Principal(user: account, key: key)
        cache.store(principal, for: digest, at: clock.uptime)
        return principal
    }

    /// A use that cannot be noted refuses no request.
    private func noteUse(of key: ServiceKey, from source: SourceAddress) async {
        guard uses.isDue(key.id, at: clock.uptime) else { return }
        do { try await store.noteUse(ofKey: key.id, at: clock.now, from: source.prefix) } catch {
            logger.warning("The use of a service key could not be noted", metadata: ["key": "\(key.name)"])
        }
    }

    private static let unknown = ServiceError(.unauthenticated, "the service key is not valid")
    private static let malformed = ServiceError(
        .unauthenticated, "the service key is not valid: its digits or its checksum are wrong")
}
