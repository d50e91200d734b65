import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess
import TrustedIssuers

/// A bearer credential that is a token, by its form alone.
enum SignInTokenForm: Sendable {
    /// A one-time token; `nil` when its digits or its checksum are wrong.
    case oneTime(PrefixedSecret?)
    /// A token of an issuer: three parts with dots between, or an encrypted one, which is refused with its own reason.
    case issued(String)

    /// `nil` for an installation credential, which has one dot, and for everything else.
    init?(_ text: String) {
        if text.hasPrefix(PrefixedSecret.Kind.signInToken.rawValue) {
            self = .oneTime(PrefixedSecret(text: text))
        } else if text.utf8.count(where: { $0 == UInt8(ascii: ".") }) >= 2 {
            self = .issued(text)
        } else {
            return nil
        }
    }
}

/// What a caller with a refused token is answered.
public enum TokenRefusal {
    /// Says why: an app's developer has nothing else to find the mistake with.
    static func error(_ reason: String) -> ServiceError {
        ServiceError(.unauthenticated, "the sign-in token was not accepted: \(reason)")
    }

    /// For a one-time token that is not for the caller's installation.
    public static let foreign = error("it is for another installation, or another one has used it")
    /// For a token on a route that takes none.
    static let exchange = "exchange the token at PUT /api/v1/installations/{id}"
}

/// Says whom a token signs in. Creates the user where token and settings allow that.
final class TokenAuthenticator: Sendable {
    /// Why a token was refused: one word for the audit, and what the caller reads.
    struct Refusal: Error {
        var reason: String
        var issuer: String?
        var subject = ""
        var answer: ServiceError

        init(_ reason: String, _ text: String, issuer: String? = nil, subject: String = "") {
            self.init(reason, issuer: issuer, subject: subject, answer: TokenRefusal.error(text))
        }

        init(_ reason: String, issuer: String? = nil, subject: String = "", answer: ServiceError) {
            (self.reason, self.issuer, self.subject, self.answer) = (reason, issuer, subject, answer)
        }
    }

    private let verifier: TokenVerifier?
    private let store: any BackendStore
    private let clock: any ServiceClock
    private let refusals: RefusalAudit

    init(verifier: TokenVerifier?, store: any BackendStore, clock: any ServiceClock, refusals: RefusalAudit) {
        self.verifier = verifier
        self.store = store
        self.clock = clock
        self.refusals = refusals
    }

    /// The most tags that a user has; what a token says beyond that is left out, so that a long list keeps no user out.
    private static let tagLimit = 20

    /// Throws `unauthenticated` with the reason, `conflict` when another user has the name, and `not-ready` while no
    /// keys of the issuer are known. Refusals are audited, with the reason and the issuer as configured, never with the token.
    func authenticate(_ token: SignInTokenForm, from source: SourceAddress) async throws -> Principal {
        do {
            switch token {
            case .oneTime(let secret): return try await principal(ofOneTime: secret, from: source)
            case .issued(let text): return try await principal(ofIssued: text, from: source)
            }
        } catch let refusal as Refusal {
            await audit(refusal, from: source)
            throw refusal.answer
        }
    }

    private func principal(ofOneTime secret: PrefixedSecret?, from source: SourceAddress) async throws -> Principal {
        guard let secret else { throw Refusal("malformed", "its digits or its checksum are wrong") }
        let found = try await store.signInToken(digest: secret.digest)
        guard let (token, known) = found else { throw Refusal("unknown-token", "there is no such token") }
        let name = token.user.text
        guard clock.now < token.expiresAt else { throw Refusal("expired", "it has expired", subject: name) }
        let user: User
        if let known {
            user = known
        } else {
            // One that was used had a user, who was removed since.
            guard token.createsUser, token.usedBy == nil else {
                throw Refusal("no-user", "its user does not exist", subject: name)
            }
            user = try await create(token, from: source)
        }
        guard user.role != .service else {
            throw Refusal("service-account", "its user is the account of a service", subject: name)
        }
        guard user.disabledAt == nil else { throw Refusal("disabled", "its user is disabled", subject: name) }
        let signIn = TokenSignIn(
            digest: token.digest, installation: token.usedBy ?? token.installation, tags: token.tags)
        return Self.principal(of: user, with: signIn)
    }

    private func create(_ token: SignInToken, from source: SourceAddress) async throws -> User {
        let now = clock.now
        let new = NewUser(name: token.user, role: .user, password: nil, tags: token.tags ?? [])
        let entry = AuditEntry(
            .userCreated, by: .unknown(""), from: source.prefix, at: now, subject: token.user.text,
            details: "role=user with=sign-in-token")
        do {
            return try await store.createUser(new, at: now, audit: entry)
        } catch let error as ServiceError where error.code == .conflict {
            // Two requests with the same token: the other one created the user.
            guard let user = try await store.user(named: token.user)?.user else { throw error }
            return user
        }
    }

    private func principal(ofIssued text: String, from source: SourceAddress) async throws -> Principal {
        guard let verifier else { throw Refusal("no-issuers", "no issuer is trusted here; the setting trusted-issuers is empty") }
        let identity = try await verified(text, by: verifier)
        let user = try await user(signedInBy: identity, from: source)
        let tags = identity.tags.map { Array($0.prefix(Self.tagLimit)) }
        return Self.principal(of: user, with: TokenSignIn(issuer: identity.issuer, tags: tags))
    }

    /// The user of an identity whose token was verified; created or adopted where the settings allow that. Throws `Refusal`.
    private func user(signedInBy identity: VerifiedIdentity, from source: SourceAddress) async throws -> User {
        let user = try await user(of: identity, from: source)
        func refusal(_ reason: String, _ text: String) -> Refusal {
            Refusal(reason, text, issuer: identity.issuer, subject: user.name.text)
        }
        guard user.disabledAt == nil else { throw refusal("disabled", "its user is disabled") }
        if let since = user.tokensSince, identity.issuedAt < since {
            throw refusal("sessions-ended", "it was issued before the user's sessions were ended")
        }
        return user
    }

    /// Whom an ID token of the console's provider signs in there, with the role that it gives.
    ///
    /// Throws `Refusal`, which is audited.
    ///
    /// - Parameters:
    ///   - givesRoles: whether the settings have rules for roles. Then a person to whom none applies is refused, and has the role `user`
    ///     from now on.
    ///   - onNewRole: called when the person has another role than before.
    func consoleUser(
        of identity: VerifiedIdentity, givesRoles: Bool, from source: SourceAddress, onNewRole: () -> Void
    ) async throws -> User {
        do {
            guard givesRoles else { return try await user(signedInBy: identity, from: source) }
            guard let role = identity.role?.userRole else {
                let known = try await store.user(
                    of: TokenIdentity(identity), issuedAt: identity.issuedAt, claim: IdentityClaim(), at: clock.now)
                if case .user(let user) = known, user.role != .user {
                    _ = try await set(.user, of: user, by: identity, from: source)
                    onNewRole()
                }
                throw Refusal(
                    "no-role", "no rule gives it a role", issuer: identity.issuer, subject: identity.userName.text)
            }
            let user = try await user(signedInBy: identity, from: source)
            guard user.role != role else { return user }
            defer { onNewRole() }
            return try await set(role, of: user, by: identity, from: source)
        } catch let refusal as Refusal {
            await audit(refusal, from: source)
            throw refusal
        }
    }

    private func set(
        _ role: UserRole, of user: User, by identity: VerifiedIdentity, from source: SourceAddress
    ) async throws -> User {
        let name = user.name.text
        let entry = AuditEntry(
            .userChanged, by: .user(name), from: source.prefix, at: clock.now, subject: name,
            details: "role=\(role.rawValue) with=provider issuer=\(identity.issuer)")
        _ = try await store.setRole(role, of: user.id, audit: entry)
        var user = user
        user.role = role
        return user
    }

    private func verified(_ text: String, by verifier: TokenVerifier) async throws(Refusal) -> VerifiedIdentity {
        do throws(TokenError) { return try await verifier.verify(text) } catch {
            let outage = ServiceError(
                .notReady, "the keys of the token's issuer cannot be fetched now", retryAfter: Int.random(in: 30...60))
            throw Refusal(
                error.reason.rawValue, issuer: error.issuer,
                answer: error.isOutage ? outage : TokenRefusal.error(error.reason.text))
        }
    }

    private func user(of identity: VerifiedIdentity, from source: SourceAddress) async throws -> User {
        let (name, now) = (identity.userName, clock.now)
        let claim = claim(of: identity, from: source, at: now)
        let find = {
            try await self.store.user(
                of: TokenIdentity(identity), issuedAt: identity.issuedAt, claim: claim, at: now)
        }
        let outcome: IdentityOutcome
        do { outcome = try await find() } catch let error as ServiceError where error.code == .conflict {
            // Two first sign-ins at the same moment: the other one created the user.
            outcome = try await find()
        }
        func refusal(_ reason: String, _ text: String) -> Refusal {
            Refusal(reason, text, issuer: identity.issuer, subject: name.text)
        }
        switch outcome {
        case .user(let user): return user
        case .unknown: throw refusal("no-user", "its user does not exist, and the issuer's settings create none")
        case .removed: throw refusal("user-removed", "its user was removed")
        case .nameTaken:
            let taken = ServiceError(.conflict, "another user has the name that the token gives")
            throw Refusal("name-taken", issuer: identity.issuer, subject: name.text, answer: taken)
        }
    }

    /// What the issuer's settings allow for an identity that has no user.
    private func claim(of identity: VerifiedIdentity, from source: SourceAddress, at now: Timestamp) -> IdentityClaim {
        let name = identity.userName
        guard !name.text.hasPrefix(ServiceAccount.prefix) else { return IdentityClaim() }
        func entry(_ action: AuditAction, _ details: String) -> AuditEntry {
            AuditEntry(
                action, by: .user(name.text), from: source.prefix, at: now, subject: name.text,
                details: "\(details) issuer=\(identity.issuer)")
        }
        let role = identity.role?.userRole ?? .user
        let tags = Array((identity.tags ?? []).prefix(Self.tagLimit))
        return IdentityClaim(
            creating: identity.mayCreateUser ? NewUser(name: name, role: role, password: nil, tags: tags) : nil,
            adopting: identity.mayAdoptUser ? name : nil,
            creation: entry(.userCreated, "role=\(role.rawValue) with=token"),
            adoption: entry(.userChanged, "identity=adopted with=token"))
    }

    private func audit(_ refusal: Refusal, from source: SourceAddress) async {
        let issuer = refusal.issuer.map { " issuer=\($0)" } ?? ""
        await refusals.record(
            .signInRefused, by: .unknown(""), from: source, subject: refusal.subject, details: "reason=\(refusal.reason)\(issuer)"
        )
    }

    private static func principal(of user: User, with token: TokenSignIn) -> Principal {
        var principal = Principal(user: user)
        principal.token = token
        if let tags = token.tags { principal.userTags = tags }
        return principal
    }
}

extension TokenIdentity {
    fileprivate init(_ identity: VerifiedIdentity) { self.init(issuer: identity.issuer, subject: identity.subject) }
}

extension TokenRole {
    /// The role of the user.
    var userRole: UserRole {
        switch self {
        case .user: .user
        case .sender: .sender
        case .auditor: .auditor
        case .admin: .admin
        }
    }
}
