import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

/// The app backend as its callers see it: HTTP routes, the command line and the demo talk to this and nothing behind it.
///
/// Every function checks who may do what; errors are `ServiceError`. What a caller may not see is `not-found`, exactly like
/// what does not exist.
public struct RichPushBackend: Sendable {
    let parts: BackendParts
    let bearers: BearerAuthenticator
    let serviceKeys: ServiceKeyAuthenticator
    let tokens: TokenAuthenticator
    let console: ConsoleAuthenticator
    private let refusals: RefusalAudit
    let defaultPicture = DefaultPicture()
    let sends = CallPace<UserID>()
    let consoleSignIns = CallPace<SourceAddress>()
    /// Wakes the upkeep for work on channels.
    let channelSignal = DispatchSignal()
    /// Counts wrong codes of second factors.
    let codes: SignInCounter

    /// Creates a backend from its parts.
    public init(parts: BackendParts) {
        self.parts = parts
        bearers = BearerAuthenticator(
            store: parts.store, clock: parts.clock, lifetime: parts.settings.credentialLifetime)
        console = ConsoleAuthenticator(store: parts.store, clock: parts.clock, idle: parts.settings.consoleIdle)
        codes = SignInCounter(store: parts.store, clock: parts.clock)
        refusals = RefusalAudit(store: parts.store, clock: parts.clock, logger: parts.logger)
        serviceKeys = ServiceKeyAuthenticator(store: parts.store, clock: parts.clock, logger: parts.logger, refusals: refusals)
        tokens = TokenAuthenticator(verifier: parts.tokens, store: parts.store, clock: parts.clock, refusals: refusals)
    }

    /// The principal of this credential.
    ///
    /// Throws `unauthenticated`, `too-many-attempts` (with `retryAfter`) after failures from the same source, `overloaded` when
    /// too many passwords wait to be hashed. A wrong password is audited, with the name that was given; other refused
    /// credentials are, at a bounded pace.
    ///
    /// A token, of an issuer or for one use, is taken for `operation` alone if the access table grants it to tokens, and may create
    /// its user. Throws `not-ready` while the keys of its issuer are missing.
    ///
    /// `noting` gets what a service key has left of a limit of its own, also when the request is refused because nothing is left.
    public func authenticate(
        _ credential: PresentedCredential, from source: SourceAddress, for operation: BackendOperation? = nil,
        noting note: (RequestAllowance) -> Void = { _ in }
    ) async throws -> Principal {
        var principal =
            switch credential {
            case .basic(let user, let password): try await principal(ofUser: user, password: password, from: source)
            case .bearer(let text): try await principal(ofBearer: text, from: source, for: operation, noting: note)
            case .consoleSession(let text): try await console.authenticate(PrefixedSecret(text: text))
            }
        principal.source = source
        return principal
    }

    private func principal(
        ofBearer text: String, from source: SourceAddress, for operation: BackendOperation?,
        noting note: (RequestAllowance) -> Void
    ) async throws -> Principal {
        // By the prefix, so that a key with a typing error is answered as one.
        if text.hasPrefix(PrefixedSecret.Kind.serviceKey.rawValue) {
            return try await serviceKeys.authenticate(PrefixedSecret(text: text), from: source, noting: note)
        }
        guard let form = SignInTokenForm(text) else { return try await principal(ofCredential: text, from: source) }
        // Before anything of the token is looked at.
        guard operation.map(AccessTable.allowsToken) == true else {
            throw ServiceError(.unauthenticated, TokenRefusal.exchange)
        }
        return try await tokens.authenticate(form, from: source)
    }

    private func principal(ofCredential text: String, from source: SourceAddress) async throws -> Principal {
        do { return try await bearers.authenticate(text) } catch let error as ServiceError where error.code == .unauthenticated {
            await refusals.record(.accessRefused, by: .unknown(""), from: source, details: "reason=credential")
            throw error
        }
    }

    /// Records that a caller whose credential holds got `forbidden` for an operation, whatever of the request led to it.
    public func noteRefusal(of operation: BackendOperation, to principal: Principal) async {
        await refusals.record(
            .accessRefused, by: principal.actor, of: .account(principal.userID), from: principal.source,
            details: "reason=forbidden operation=\(operation.name)")
    }

    /// Registers an installation for the caller; that a one-time token does not hold for it goes into the audit.
    func notingForeignToken<Result>(
        of principal: Principal, _ work: () async throws -> Result
    ) async throws -> Result {
        do { return try await work() } catch let error as ServiceError where error.detail == TokenRefusal.foreign.detail {
            await refusals.record(
                .signInRefused, by: .unknown(""), from: principal.source, subject: principal.name.text,
                details: "reason=elsewhere")
            throw error
        }
    }

    /// Records that a key of a hub, or of all hubs, got `forbidden` for the management of hubs, with the rule of the key.
    public func noteHubRefusal(
        of operation: String, on hub: String, toRule rule: String, ofHub keyHub: String?, from source: SourceAddress
    ) async {
        let key = keyHub.map { " key-of=\($0)" } ?? ""
        await refusals.record(
            .accessRefused, by: .hubKey(rule), of: .hubRule(rule, hub: keyHub?.lowercased()), from: source,
            details: "reason=forbidden operation=\(operation) hub=\(hub)\(key)")
    }

    private func principal(ofUser user: String, password: String, from source: SourceAddress) async throws -> Principal {
        let found = try await verifiedUser(user, password: password, from: source)
        guard found.secondFactorAt == nil else {
            await noteRefusedSignIn("password-alone", from: source)
            throw ServiceError(
                .unauthenticated,
                "this user has a second factor: sign in to the console with both, and give programs a service key")
        }
        return Principal(user: found)
    }

    /// The user whose password this is.
    func verifiedUser(_ user: String, password: String, from source: SourceAddress) async throws -> User {
        try await parts.authenticator.authenticate(user: user, password: password, from: source) {
            let actor = AuditActor.unknown(String(String.UnicodeScalarView(user.unicodeScalars.prefix(64))))
            try await parts.store.record(AuditEntry(.signInRefused, by: actor, from: source.prefix, at: parts.clock.now))
        }
    }

    /// Forgets all credentials that were verified, since a user or a key has changed.
    func forgetCredentials() {
        parts.authenticator.forget()
        bearers.forget()
        serviceKeys.forget()
        console.forget()
    }

    /// Records that a caller without a valid credential tried to sign in.
    func noteRefusedSignIn(_ reason: String, from source: SourceAddress) async {
        await refusals.record(.signInRefused, by: .unknown(""), from: source, details: "reason=\(reason)")
    }

    /// Reads and verifies the audit.
    public var audit: AuditReader { AuditReader(store: parts.store) }

    /// Records that a caller reads the audit: with which filters, and how many entries at most, `nil` for all. Without a principal it is a
    /// command.
    public func noteAuditReading(_ filter: AuditFilter, limit: Int?, by principal: Principal? = nil) async throws {
        // A name that is asked for can be erased as the subject only.
        let names = [("actor", filter.actor), ("subject", filter.subject)].filter { $0.1 != nil }
        let action = filter.action.map { " action=\($0.rawValue)" } ?? ""
        let by = names.isEmpty ? "" : " by=\(names.map { $0.0 }.joined(separator: ","))"
        try await parts.store.record(
            entry(
                .auditRead, by: principal, subject: filter.subject ?? filter.actor ?? "",
                details: "limit=\(limit.map(String.init) ?? "all")\(action)\(by)"))
    }
}

/// The stored picture of the rich push tutorial's send, once the composition has set it.
///
/// Another node may have another picture, after a change of the settings that has not reached this one: then only the sends name the bytes
/// of this one's, and they may be removed once they are an hour old (`BackendSweep.freshness`). So they are stored again from time to
/// time, before a send names them.
final class DefaultPicture: Sendable {
    /// The age at which the bytes are stored again.
    static let renewal: Duration = .seconds(1200)
    /// The age from which on no send names them before that is done.
    static let deadline: Duration = .seconds(2400)

    /// What a send does with the picture.
    enum Use {
        case take(ContentRecord)
        /// Store the bytes again, then say how that went. A failure can wait unless it is `isDue`.
        case renew(ContentRecord, bytes: [UInt8], isDue: Bool)
    }

    private struct Kept {
        var record: ContentRecord
        var bytes: [UInt8]
        var storedAt: Duration
        var isBeingRenewed = false
    }

    private let kept = Mutex<Kept?>(nil)

    /// Sets the picture, whose bytes were stored at that uptime or later.
    func set(_ record: ContentRecord, bytes: [UInt8], storedAt uptime: Duration) {
        kept.withLock { $0 = Kept(record: record, bytes: bytes, storedAt: uptime) }
    }

    /// What to do at that uptime; `nil` without a picture. Of many at a time one renews, as long as the others can go on without.
    func use(at uptime: Duration) -> Use? {
        kept.withLock { kept -> Use? in
            guard let picture = kept else { return nil }
            let age = uptime - picture.storedAt
            let isDue = age >= Self.deadline
            guard isDue || (age >= Self.renewal && !picture.isBeingRenewed) else { return .take(picture.record) }
            kept?.isBeingRenewed = true
            return .renew(picture.record, bytes: picture.bytes, isDue: isDue)
        }
    }

    /// The bytes were stored again at that uptime or later; `nil` when that failed.
    func renewed(at uptime: Duration?) {
        kept.withLock { kept in
            kept?.isBeingRenewed = false
            if let uptime, let last = kept?.storedAt { kept?.storedAt = max(uptime, last) }
        }
    }
}
