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
    func bind(_ device: BoundDevice, to user: UserID, at now: Timestamp) async throws -> BindingOutcome

    /// The binding of a record that holds now.
    func current(_ record: RecordID) async throws -> Binding?

    /// Closes the user's binding of a record and deletes the record's credential. `true` also when it was this user who was
    /// bound last, so that a sign-out can be repeated.
    func unbind(_ record: RecordID, from user: UserID, at now: Timestamp) async throws -> Bool

    /// The user's bindings that held at or after `moment`, newest first, at most `limit`.
    func bindings(of user: UserID, since moment: Timestamp, limit: Int) async throws -> [Binding]
}

/// What became of a request to bind.
public enum BindingOutcome: Hashable, Sendable {
    /// It holds. `replaced` are other records of the handle that were closed.
    case bound(Binding, replaced: [RecordID])
    /// The record belongs to another user on another device.
    case heldByAnother
}
