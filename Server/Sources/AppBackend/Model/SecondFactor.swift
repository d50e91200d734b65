import AuditTrail
import RichPushModel

/// What a person needs to sign in to the console beside the password: the codes of an authenticator app, and recovery codes.
public struct SecondFactor: Hashable, Sendable {
    public var user: UserID
    /// From which the secret of the codes is derived.
    public var salt: [UInt8]
    public var createdAt: Timestamp
    /// When the person showed that the app has the secret. Until then nothing is asked for.
    public var confirmedAt: Timestamp?
    /// How many recovery codes are left.
    public var recoveryCodes: Int

    /// Takes a second factor from storage, or describes a new one.
    public init(user: UserID, salt: [UInt8], createdAt: Timestamp, confirmedAt: Timestamp? = nil, recoveryCodes: Int = 0) {
        self.user = user
        self.salt = salt
        self.createdAt = createdAt
        self.confirmedAt = confirmedAt
        self.recoveryCodes = recoveryCodes
    }
}

/// Keeps second factors. Errors are `ServiceError`.
public protocol SecondFactorStore: Sendable {
    /// That of a user; `nil` for none.
    func secondFactor(of user: UserID) async throws -> SecondFactor?

    /// Stores one that is not confirmed, in place of another one that is not. `false` when one is confirmed.
    func beginSecondFactor(_ factor: SecondFactor) async throws -> Bool

    /// Confirms what was begun with this salt, with the step of the code that showed it and the digests of the recovery codes. `false` when
    /// something else was begun or confirmed since.
    func confirmSecondFactor(
        of user: UserID, salt: [UInt8], step: Int64, recovery: [[UInt8]], at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool

    /// Uses the code of a step, once: `false` when a code of this step or a later one was used before, on any node.
    func useTimeCode(_ step: Int64, of user: UserID) async throws -> Bool

    /// Uses a recovery code, once; whether there was one of this digest.
    func useRecoveryCode(_ digest: [UInt8], of user: UserID) async throws -> Bool

    /// Removes it; whether there was one that was confirmed.
    func removeSecondFactor(of user: UserID, audit entry: AuditEntry?) async throws -> Bool
}
