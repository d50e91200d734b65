import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess

/// What the console says of the caller's second factor.
public struct SecondFactorStatus: Hashable, Sendable, Codable {
    public var isSet: Bool
    /// Since when; absent without one.
    public var since: Timestamp?
    /// How many recovery codes are left.
    public var recoveryCodes: Int
}

/// A second factor that has begun and waits for its first code.
public struct NewSecondFactor: Sendable, Encodable {
    /// For typing into the app: in this answer and nowhere else.
    public var secret: String
    /// For an app on the same device to open.
    public var address: String
}

/// Signing in to the console with a password and a second factor.
///
/// A user with a second factor can no longer sign API requests with the password: otherwise the password alone would be enough.
extension RichPushBackend {
    /// How long a second factor that has begun may wait for its first code.
    static let secondFactorTimeout: Duration = .seconds(600)

    /// Begins a session of the console. Throws what wrong passwords throw; `unauthenticated` also for a wrong code and for a user without a
    /// second factor, and `too-many-attempts` after several wrong codes.
    public func beginConsoleSession(
        user name: String, password: String, code: String, from source: SourceAddress
    ) async throws -> NewConsoleSession {
        let user = try await verifiedUser(name, password: password, from: source)
        guard user.secondFactorAt != nil else {
            throw ServiceError(
                .unauthenticated, "this user has no second factor yet: sign in with a link, and set one up in the console")
        }
        let attempt = SignInAttempt(user: Self.codeAccount(of: user.name), source: source)
        try await counting(attempt, from: source) { try await use(code, of: user) }
        let (new, session) = newSession(of: user, from: source)
        let entry = new.principal.entry(
            .consoleSignedIn, at: session.createdAt, subject: user.name.text, details: "with=password")
        try await parts.store.addConsoleSession(session, limit: Self.consoleSessionsOfUser, audit: entry)
        return new
    }

    /// Whether the caller has a second factor.
    public func secondFactor(of principal: Principal) async throws -> SecondFactorStatus {
        try Self.requireConsole(principal)
        let found = try await parts.store.secondFactor(of: principal.userID)
        return SecondFactorStatus(
            isSet: found?.confirmedAt != nil, since: found?.confirmedAt,
            recoveryCodes: found?.confirmedAt == nil ? 0 : found?.recoveryCodes ?? 0)
    }

    /// Begins a second factor for the caller, in place of one that is not confirmed yet. Throws `conflict` when one is confirmed.
    public func beginSecondFactor(for principal: Principal) async throws -> NewSecondFactor {
        try Self.requireConsole(principal)
        let factor = SecondFactor(user: principal.userID, salt: TimeCodeSecrets.randomSalt(), createdAt: parts.clock.now)
        guard try await parts.store.beginSecondFactor(factor) else {
            throw ServiceError(.conflict, "there is a second factor already; remove it before you set up another")
        }
        let secret = parts.timeCodes.secret(salt: factor.salt)
        return NewSecondFactor(secret: secret.text, address: secret.address(account: principal.name.text))
    }

    /// Confirms what has begun with a code that the app shows; returns the recovery codes, once. From then on the caller signs in to the
    /// console with both, and the password alone signs nothing. Throws `invalid-field` for another code, and `conflict`.
    public func confirmSecondFactor(_ code: String, for principal: Principal) async throws -> [String] {
        try Self.requireConsole(principal)
        let now = parts.clock.now
        guard let factor = try await parts.store.secondFactor(of: principal.userID), factor.confirmedAt == nil,
            now < factor.createdAt + Self.secondFactorTimeout
        else { throw ServiceError(.conflict, "nothing was begun in the last ten minutes; begin again") }
        guard let step = parts.timeCodes.secret(salt: factor.salt).step(of: Self.digits(code), atSeconds: now.seconds) else {
            throw ServiceError(
                .invalidField, "code: this is not what the app shows now; compare the clocks of the phone and of the server")
        }
        let recovery = (0..<RecoveryCode.count).map { _ in RecoveryCode.random() }
        let isDone = try await parts.store.confirmSecondFactor(
            of: principal.userID, salt: factor.salt, step: step, recovery: recovery.compactMap(RecoveryCode.digest), at: now,
            audit: principal.entry(.userChanged, at: now, subject: principal.name.text, details: "second-factor=set"))
        guard isDone else { throw ServiceError(.conflict, "another second factor was begun meanwhile; begin again") }
        forgetCredentials()
        return recovery
    }

    /// Removes the second factor of the caller. It takes a code, so that an open session that another person finds is not enough. Throws
    /// `unauthenticated` for a wrong code, `too-many-attempts`, and `not-found` without a second factor.
    public func removeSecondFactor(_ code: String, for principal: Principal) async throws {
        try Self.requireConsole(principal)
        guard let user = try await parts.store.user(principal.userID), user.secondFactorAt != nil else {
            throw Self.noSecondFactor
        }
        let source = principal.source
        let attempt = SignInAttempt(user: Self.codeAccount(of: user.name), source: source)
        try await counting(attempt, from: source) { try await use(code, of: user) }
        try await removeSecondFactor(of: user, by: principal)
    }

    /// Removes the second factor of a user who has lost phone and recovery codes. Throws `not-found`, and `forbidden` for a user above the
    /// caller.
    public func removeSecondFactor(ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await person(name, changedBy: principal)
        try Self.requirePower(over: user.role, principal)
        try await removeSecondFactor(of: user, by: principal)
    }

    private func removeSecondFactor(of user: User, by principal: Principal?) async throws {
        let entry = entry(.userChanged, by: principal, subject: user.name.text, details: "second-factor=removed")
        guard try await parts.store.removeSecondFactor(of: user.id, audit: entry) else { throw Self.noSecondFactor }
        forgetCredentials()
    }

    static let noSecondFactor = ServiceError(.notFound, "the user has no second factor")

    /// Whether the code signs the user in now; it does so once.
    private func use(_ code: String, of user: User) async throws -> Bool {
        guard let factor = try await parts.store.secondFactor(of: user.id), factor.confirmedAt != nil else { return false }
        if let digest = RecoveryCode.digest(of: code) { return try await parts.store.useRecoveryCode(digest, of: user.id) }
        let secret = parts.timeCodes.secret(salt: factor.salt)
        guard let step = secret.step(of: Self.digits(code), atSeconds: parts.clock.now.seconds) else { return false }
        return try await parts.store.useTimeCode(step, of: user.id)
    }

    /// Counts wrong codes as wrong passwords are counted.
    private func counting(_ attempt: SignInAttempt, from source: SourceAddress, _ isRight: () async throws -> Bool) async throws {
        let charge = try await codes.begin(attempt)
        let found: Bool
        do { found = try await isRight() } catch {
            await codes.withdraw(attempt, charge)
            throw error
        }
        guard found else {
            try await codes.fail(attempt, charge)
            await noteRefusedSignIn("second-factor", from: source)
            throw ServiceError(.unauthenticated, "the code is wrong, or was used before; the app shows another every 30 seconds")
        }
        await codes.succeed(attempt, charge)
    }

    /// The name under which the wrong codes of a user are counted. No user has such a name.
    static func codeAccount(of user: UserName) -> String { "second factor of \(user.folded)" }

    private static func digits(_ code: String) -> String { code.filter { $0 != " " } }

    /// Otherwise a person who has only found the password could set up a second factor with it.
    private static func requireConsole(_ principal: Principal) throws(ServiceError) {
        guard principal.consoleSession != nil else { throw ServiceError(.forbidden, "a second factor is managed in the console") }
    }
}
