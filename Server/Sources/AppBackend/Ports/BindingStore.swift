import PushHub
import RichPushModel

/// Keeps the bindings of one app, past ones included. Errors are `ServiceError`.
public protocol BindingStore: Sendable {
    /// Binds a device to a user, in one transaction:
    ///
    /// - A record that is bound to another user is refused unless its stored handle is the same; then the other user's binding
    ///   is closed and the record's credential deleted.
    /// - A binding that says the same already stays as it is; another of the same record is closed and a new one begins.
    /// - Every other record with the platform and handle is closed, its credential deleted, with an audit entry.
    /// - More bindings or tags of one user than `BindingLimits` allows throw `quota-exceeded`, and nothing has changed. So does a
    ///   record that is new to the user when they have `devices` already.
    /// - Where it holds, the change is noted as begun, for the record and for every record that was closed: nobody can die between.
    /// - A credential that is to be issued takes the place of the record's, and must be of the user's password as it is now; one
    ///   that was presented must still be the record's.
    func bind(
        _ device: BoundDevice, to user: UserID, with credential: BindingCredential, devices: Int, mark: Int64, at now: Timestamp
    ) async throws -> BindingOutcome

    /// The binding of a record that holds now.
    func current(_ record: RecordID) async throws -> Binding?

    /// The binding of a record that was made last, whether it holds or not; absent when there was none, or it is forgotten.
    func last(_ record: RecordID) async throws -> Binding?

    /// Other records that are bound now with a handle and platform with which this record is or was bound.
    func sharers(of record: RecordID) async throws -> [RecordID]

    /// What there is to sign out of: the binding of the record that holds now, and its credential.
    func state(of record: RecordID) async throws -> BindingState

    /// Closes the user's binding of a record and deletes the record's credential, if the condition holds still. Where it answers
    /// `unbound`, the change is noted as begun.
    func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, mark: Int64, at now: Timestamp
    ) async throws -> UnbindingOutcome

    /// Notes a change of a device before it begins.
    func begin(_ change: DeviceChange, at now: Timestamp) async throws

    /// Forgets a change: the hub says what the binding says. Others of the record stay noted.
    func end(_ change: DeviceChange) async throws

    /// Records with changes that began before `moment` and were not ended, the oldest first, each once, at most `limit`.
    func unended(begunBefore moment: Timestamp, limit: Int) async throws -> [RecordID]

    /// Forgets the changes of a record that began before `moment`.
    func endAll(of record: RecordID, begunBefore moment: Timestamp) async throws

    /// Records that other users took over from this one, newest first, at most `limit`, for as long as audit entries are kept.
    func taken(from user: UserID, limit: Int) async throws -> [TakenRecord]

    /// The user's bindings that hold or ended after `mark`, newest first, at most `limit`. With `.last` those that hold.
    func bindings(of user: UserID, since mark: OrderNumber, limit: Int) async throws -> [Binding]
}

extension BindingStore {
    /// The same with as many devices as there can be.
    public func bind(
        _ device: BoundDevice, to user: UserID, with credential: BindingCredential, mark: Int64, at now: Timestamp
    ) async throws -> BindingOutcome {
        try await bind(device, to: user, with: credential, devices: BindingLimits.bindings, mark: mark, at: now)
    }
}

/// What became of a request to bind.
public enum BindingOutcome: Hashable, Sendable {
    /// It holds. `replaced` are other records of the handle that were closed; `taken` are the records that were another user's.
    case bound(Binding, replaced: [RecordID], taken: [RecordID])
    /// The record belongs to another user on another device.
    case heldByAnother
    /// The presented credential is not the record's any more, or the one to be issued is of an earlier password.
    case credentialReplaced
}

/// A record that another user took over, by registering the same device token.
public struct TakenRecord: Hashable, Sendable {
    public var record: String
    public var at: Timestamp

    /// Creates one.
    public init(record: String, at: Timestamp) {
        self.record = record
        self.at = at
    }
}

/// With which credential a device is bound.
public enum BindingCredential: Hashable, Sendable {
    /// A password, and none is asked for.
    case none
    /// A password, and this one is stored in the same transaction: a sign-out under way must not come between the two.
    case issue(StoredInstallationCredential)
    /// The credential with this digest.
    case presented([UInt8])
}

/// A binding that holds and the credential of its record, for whoever wants to change just these.
public struct BindingState: Hashable, Sendable {
    /// The number of the binding; absent when none holds.
    public var binding: Int64?
    /// The digest of the credential; absent when there is none.
    public var credential: [UInt8]?

    /// Creates a state.
    public init(binding: Int64?, credential: [UInt8]?) {
        self.binding = binding
        self.credential = credential
    }
}

/// What a sign-out is for: whatever came later stays.
public enum UnbindingCondition: Hashable, Sendable {
    /// The record is as it was when the sign-out began.
    case unchanged(BindingState)
    /// The record's credential is the one with this digest; all that was bound with it ends.
    case credential([UInt8])
}

/// What became of a request to unbind.
public enum UnbindingOutcome: Hashable, Sendable {
    /// It is closed; also when it was this user who was bound last, so that a sign-out can be repeated.
    case unbound
    /// The record was bound again, or got another credential, since it was seen. Nothing changed.
    case superseded
    /// It is not the user's.
    case foreign
}
