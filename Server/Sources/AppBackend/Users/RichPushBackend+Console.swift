import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess

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
        let (secret, now, settings) = (PrefixedSecret(.consoleSession), parts.clock.now, parts.settings)
        let session = ConsoleSession(
            .session, digest: secret.digest, of: user, idle: settings.consoleIdle, life: settings.consoleLife, at: now)
        let entry = AuditEntry(
            .consoleSignedIn, by: .user(user.name.text), from: source.prefix, at: now, subject: user.name.text,
            details: "with=link")
        guard
            try await parts.store.redeemConsoleLink(
                link.digest, for: session, limit: Self.consoleSessionsOfUser, at: now, audit: entry)
        else { throw await refusal(ofLinkFrom: source) }
        var principal = Principal(user: user)
        principal.consoleSession = session.digest
        principal.source = source
        return NewConsoleSession(secret: secret.text, principal: principal, endsAt: session.endsAt)
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
