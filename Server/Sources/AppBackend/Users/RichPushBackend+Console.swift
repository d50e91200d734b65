import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess
import TrustedIssuers

/// A link to the console that signs one person in, once.
public struct ConsoleLink: Sendable {
    /// The secret: in this answer and nowhere else.
    public var secret: String
    public var user: UserName
    public var expiresAt: Timestamp
}

/// A session of the console that has just begun.
public struct NewConsoleSession: Sendable {
    /// For the cookie of the answer and nowhere else.
    public var secret: String
    public var principal: Principal
    /// From this moment on it does not hold, however much it is used.
    public var endsAt: Timestamp
}

/// How people sign in to the console: with a link, which an operator makes on the machine.
extension RichPushBackend {
    /// How long a link holds.
    public static let consoleLinkLife: Duration = .seconds(120)
    /// The most sessions of one user; the oldest ends when another begins.
    public static let consoleSessionsOfUser = 20

    /// Makes a link that signs the user in, once, within two minutes. Throws `not-found`, and `conflict` for a user who is disabled or the
    /// account of a service.
    public func makeConsoleLink(for name: String) async throws -> ConsoleLink {
        let user = try await user(name)
        guard user.disabledAt == nil else { throw ServiceError(.conflict, "the user is disabled") }
        guard user.role != .service else { throw ServiceError(.conflict, "this is the account of a service, not a person") }
        let (secret, life) = (PrefixedSecret(.consoleLink), Self.consoleLinkLife)
        let link = ConsoleSession(.link, digest: secret.digest, of: user, idle: life, life: life, at: parts.clock.now)
        let entry = entry(.consoleLinkMade, by: nil, subject: user.name.text)
        try await parts.store.addConsoleLink(link, audit: entry)
        return ConsoleLink(secret: secret.text, user: user.name, expiresAt: link.expiresAt)
    }

    /// Begins a session with the secret of a link, which ends with that. Throws `unauthenticated` when it does not hold, which is audited.
    public func beginConsoleSession(link text: String, from source: SourceAddress) async throws -> NewConsoleSession {
        guard let link = PrefixedSecret(text: text), link.kind == .consoleLink,
            let (_, user) = try await parts.store.consoleSession(.link, digest: link.digest)
        else { throw await refusal(ofLinkFrom: source) }
        let (new, session) = newSession(of: user, from: source)
        let entry = new.principal.entry(
            .consoleSignedIn, at: session.createdAt, subject: user.name.text, details: "with=link")
        guard
            try await parts.store.redeemConsoleLink(
                link.digest, for: session, limit: Self.consoleSessionsOfUser, at: session.createdAt, audit: entry)
        else { throw await refusal(ofLinkFrom: source) }
        return new
    }

    func newSession(of user: User, from source: SourceAddress) -> (new: NewConsoleSession, stored: ConsoleSession) {
        let (secret, settings) = (PrefixedSecret(.consoleSession), parts.settings)
        let session = ConsoleSession(
            .session, digest: secret.digest, of: user, idle: settings.consoleIdle, life: settings.consoleLife,
            at: parts.clock.now)
        var principal = Principal(user: user)
        principal.consoleSession = session.digest
        principal.source = source
        return (NewConsoleSession(secret: secret.text, principal: principal, endsAt: session.endsAt), session)
    }

    private func refusal(ofLinkFrom source: SourceAddress) async -> ServiceError {
        await noteRefusedSignIn("console-link", from: source)
        return ServiceError(.unauthenticated, "this link to the console was used, has expired, or does not exist")
    }

    /// Ends the session of the caller; nothing happens when there is none.
    public func endConsoleSession(_ principal: Principal) async throws {
        guard let digest = principal.consoleSession else { return }
        let entry = entry(.consoleSignedOut, by: principal, subject: principal.name.text)
        _ = try await parts.store.endConsoleSession(digest, audit: entry)
        console.forget()
    }
}

/// Why a person got no session at the console's provider; the raw value stands in the address of the page that says so.
public enum ConsoleRefusal: String, Error, CaseIterable, Sendable {
    case unavailable
    case beginAgain = "begin-again"
    case cancelled
    case refused
    case notVerified = "not-verified"
    /// There is no such user, and the settings create none.
    case noUser = "no-user"
    /// Another user has the name.
    case nameTaken = "name-taken"
    /// No rule gives the person a role.
    case noRole = "no-role"
    case disabled
    /// The user was removed, or signed out everywhere, after the token was issued.
    case signedOut = "signed-out"
    /// The network of the caller began too many sign-ins.
    case tooMany = "too-many"

    fileprivate init(_ fault: ProviderFault) {
        switch fault {
        case .unavailable: self = .unavailable
        case .beginAgain: self = .beginAgain
        case .cancelled: self = .cancelled
        case .refused: self = .refused
        case .notVerified: self = .notVerified
        }
    }

    /// Takes the reason of the audit.
    fileprivate init(_ refusal: TokenAuthenticator.Refusal) {
        switch refusal.reason {
        case "sessions-ended", "user-removed": self = .signedOut
        case let reason: self = ConsoleRefusal(rawValue: reason) ?? .notVerified
        }
    }
}

/// How people sign in to the console at an OpenID Connect provider.
extension RichPushBackend {
    /// How many sign-ins of one network each node begins or ends in a minute.
    public static let consoleSignInsPerMinute = 120

    /// What people know the provider as; `nil` when there is none.
    public var consoleProvider: String? { parts.provider?.provider.title }

    /// Begins a sign-in at the provider. Throws `not-found` without one, and `ConsoleRefusal`.
    public func beginProviderSignIn(from source: SourceAddress) async throws -> ProviderSignIn.Start {
        let provider = try provider(for: source)
        do throws(ProviderFault) { return try await provider.begin() } catch { throw await refusal(error, from: source) }
    }

    /// Begins a session with the answer of the provider. Throws as `beginProviderSignIn`; refusals are audited.
    ///
    /// - Parameter attempt: what the browser kept of the beginning.
    public func finishProviderSignIn(
        _ answer: ProviderSignIn.Answer, attempt: String?, from source: SourceAddress
    ) async throws -> NewConsoleSession {
        let provider = try provider(for: source)
        let identity: VerifiedIdentity
        do throws(ProviderFault) { identity = try await provider.finish(answer, attempt: attempt) } catch {
            throw await refusal(error, from: source)
        }
        let user: User
        do {
            user = try await tokens.consoleUser(
                of: identity, givesRoles: provider.provider.issuer.roleClaim != nil, from: source, onNewRole: forgetCredentials)
        } catch let refusal as TokenAuthenticator.Refusal { throw ConsoleRefusal(refusal) }
        let (new, session) = newSession(of: user, from: source)
        let entry = new.principal.entry(
            .consoleSignedIn, at: session.createdAt, subject: user.name.text, details: "with=provider issuer=\(identity.issuer)")
        try await parts.store.addConsoleSession(session, limit: Self.consoleSessionsOfUser, audit: entry)
        return new
    }

    private func provider(for source: SourceAddress) throws -> ProviderSignIn {
        guard let provider = parts.provider else {
            throw ServiceError(.notFound, "this server has no provider for the console; the setting console-provider is empty")
        }
        do { try consoleSignIns.take(source, perMinute: Self.consoleSignInsPerMinute, at: parts.clock.uptime) } catch {
            throw ConsoleRefusal.tooMany
        }
        return provider
    }

    private func refusal(_ fault: ProviderFault, from source: SourceAddress) async -> ConsoleRefusal {
        await noteRefusedSignIn("\(fault.rawValue) with=provider", from: source)
        return ConsoleRefusal(fault)
    }
}
