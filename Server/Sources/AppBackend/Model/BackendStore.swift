import AuditTrail
import CalendarTime
import PushHub
import RichPushModel
import SharedAccess

/// All that the app backend keeps in its database. Errors are `ServiceError`.
public protocol BackendStore:
    ActivityStore, AuditStore, ChannelStore, ConsoleSessionStore, MessageTemplateStore, ScheduleStore, SecondFactorStore,
    ServiceKeyStore,
    SignInCountStore,
    TokenSignInStore,
    WebhookStore
{
    // Users

    /// Creates a user with credential version 1. Throws `conflict` when the name is taken, without regard to case.
    func createUser(_ new: NewUser, at now: Timestamp, audit entry: AuditEntry?) async throws -> User

    /// The user of this name, without regard to case, with what verifies their password. That is absent for a user who cannot sign in with
    /// one, and stays inside the server.
    func user(named name: UserName) async throws -> (user: User, password: PasswordHash?)?

    /// The user of this number.
    func user(_ id: UserID) async throws -> User?

    /// Replaces the password, counts the credential version up and deletes the user's installation credentials, in one
    /// transaction. Tokens that were made before do not sign the user in any more. Whether there was such a user.
    func setPassword(_ password: PasswordHash, of id: UserID, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool

    /// Counts the credential version up and deletes the user's installation credentials, in one transaction; with `isDisabled` also
    /// keeps the user from signing in again, or lets them. Tokens that were made before do not sign the user in any more. Whether
    /// there was such a user.
    func endSessions(of id: UserID, isDisabled: Bool?, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool

    /// Replaces the hash of a password by another of the same password, if it is stored still. Sessions and the credential version
    /// stay. Whether it was.
    func replaceHash(_ old: PasswordHash, with new: PasswordHash, of id: UserID) async throws -> Bool

    /// Replaces the role. Whether there was such a user.
    func setRole(_ role: UserRole, of id: UserID, audit entry: AuditEntry?) async throws -> Bool

    /// Replaces the tags that each of the user's devices has beside its own, in one transaction with the bindings that hold: each
    /// is made again `retagged`, and noted as a change that has begun. The audit entry is written if the tags are others.
    ///
    /// Returns the records that were bound again, or `nil` when there was no such user. More than `BindingLimits` allows throws
    /// `quota-exceeded`, and nothing has changed.
    func setTags(
        _ tags: [Tag], of id: UserID, mark: Int64, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> [RecordID]?

    /// Replaces the user's own quiet hours, and notes each device of theirs as a change that has begun, in one transaction. Returns these
    /// records, or `nil` when there was no such user.
    func setQuietHours(
        _ hours: QuietHours?, of id: UserID, mark: Int64, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> [RecordID]?

    /// Creates those users who do not exist, without a password, and gives the others the role and the tags that are not `nil`: each in
    /// turn, all in one transaction. Where the tags are others, bindings are made again as in `setTags`. One whose role is among
    /// `protected` stays as they are. `audit` makes the entries of what became of them; it may be called more than once.
    func upsertUsers(
        _ users: [UserUpsert], protecting protected: Set<UserRole>, mark: Int64, at now: Timestamp,
        audit: @escaping @Sendable ([UserUpsertOutcome]) -> [AuditEntry]
    ) async throws -> [UserUpsertOutcome]

    /// Users whose folded names begin with `prefix`, in the order of those names, after `name`.
    func users(after name: UserName?, prefix: String, limit: Int) async throws -> [User]

    /// Removes a user, closes their bindings and deletes their credentials, in one transaction. Returns the records whose
    /// bindings were closed, each noted as a change that has begun, or `nil` when there was no such user. The number is never used again.
    func removeUser(_ id: UserID, mark: Int64, at now: Timestamp, audit entry: AuditEntry?) async throws -> [RecordID]?

    // Credentials, one for each installation

    /// Stores a credential in place of the installation's earlier one.
    func issue(_ credential: StoredInstallationCredential) async throws

    /// The installation's credential together with its user as they are now; `nil` when either is gone.
    func credential(of installation: InstallationID) async throws -> (StoredInstallationCredential, User)?

    /// Moves the expiry, if the credential is still this one.
    func extend(_ credential: StoredInstallationCredential, until expiry: Timestamp) async throws

    /// Credentials that expired before `moment`, the oldest first, at most `limit`.
    func expiredCredentials(before moment: Timestamp, limit: Int) async throws -> [StoredInstallationCredential]

    /// Deletes a credential, if it is still this one with this expiry.
    func remove(_ credential: StoredInstallationCredential) async throws

    // Bindings, past ones included

    /// Binds a device to a user, in one transaction:
    ///
    /// - A record that is bound to another user is refused unless its stored handle is the same; then the other user's binding
    ///   is closed and the record's credential deleted.
    /// - A binding that says the same already stays as it is; another of the same record is closed and a new one begins.
    /// - Every other record with the platform and handle is closed, its credential deleted, with an audit entry.
    /// - More bindings or tags of one user than `BindingLimits` allows throw `quota-exceeded`, and nothing has changed. So does a
    ///   record that is new to the user when they have `devices` already.
    /// - If it holds, the change is noted as begun for the record and every closed record, in the same transaction.
    /// - The audit entry is written if a credential is issued; others follow it for each device that another user loses.
    /// - A credential that is to be issued takes the place of the record's, and must be of the user's password as it is now; one
    ///   that was presented must still be the record's.
    /// - A one-time token that is exchanged must hold for the user and the installation. If another installation has used it, this
    ///   throws `unauthenticated`, and nothing has changed.
    func bind(
        _ device: BoundDevice, to user: UserID, with credential: BindingCredential, devices: Int, mark: Int64, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> BindingOutcome

    /// The binding of a record that holds now.
    func currentBinding(of record: RecordID) async throws -> Binding?

    /// The binding of a record that was made last, whether it holds or not; absent when there was none, or it is forgotten.
    func lastBinding(of record: RecordID) async throws -> Binding?

    /// Other records that are bound now with a handle and platform with which this record is or was bound.
    func sharers(of record: RecordID) async throws -> [RecordID]

    /// What there is to sign out of: the binding of the record that holds now, and its credential.
    func bindingState(of record: RecordID) async throws -> BindingState

    /// Closes the user's binding of a record and deletes the record's credential, if the condition holds still. Where it answers
    /// `unbound`, the change is noted as begun.
    func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, mark: Int64, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> UnbindingOutcome

    /// Notes a change of a device before it begins.
    func begin(_ change: DeviceChange, at now: Timestamp) async throws

    /// Forgets a change: the hub says what the binding says. Others of the record stay noted.
    func end(_ change: DeviceChange) async throws

    /// Records with changes that began before `moment` and were not ended, the oldest first, each once, at most `limit`.
    func unendedChanges(begunBefore moment: Timestamp, limit: Int) async throws -> [RecordID]

    /// Forgets the changes of a record that began before `moment`.
    func endChanges(of record: RecordID, begunBefore moment: Timestamp) async throws

    /// Records that other users took over from this one, newest first, at most `limit`, for as long as the audit has it.
    func takenDevices(from user: UserID, limit: Int) async throws -> [TakenDevice]

    /// The user's bindings that hold or ended after `mark`, newest first, at most `limit`. With `.last` those that hold.
    func bindings(of user: UserID, since mark: OrderNumber, limit: Int) async throws -> [Binding]

    // Contents: which exist, whose they are, and when they go

    /// Adds a content that waits to be sent. Throws `quota-exceeded` when it does not fit beside the owner's contents,
    /// waiting and sent; decided in the transaction that adds it, so that two uploads cannot both take the last bytes.
    func stage(_ content: ContentRecord, quota: ContentQuota, at now: Timestamp) async throws

    /// What the owner's contents take up together, without those that have expired.
    func contentUse(of owner: UserID, at now: Timestamp) async throws -> ContentUse

    /// Adds or replaces a content that stays until it is replaced.
    func keep(_ content: ContentRecord, at now: Timestamp) async throws

    /// The content, waiting or sent; `nil` when it is gone or has expired.
    func content(_ id: String, at now: Timestamp) async throws -> ContentRecord?

    /// Deletes at most `limit` contents that expired before `moment`; returns how many. A digest that no content has any more
    /// becomes an orphan in the same transaction.
    func removeExpiredContents(before moment: Timestamp, limit: Int) async throws -> Int

    /// Digests whose bytes no content refers to, in order after `digest`; at most `limit` are scanned. `next` is where the next piece
    /// begins, absent after the last. An orphan that has a content again is no orphan any more.
    func orphans(after digest: ContentDigest?, limit: Int) async throws -> (digests: [ContentDigest], next: ContentDigest?)

    /// Marks those of the digests as orphans that no content refers to.
    func noteOrphans(among digests: [ContentDigest]) async throws

    /// Notes that the bytes of an orphan are gone from the content store.
    func forgetOrphan(_ digest: ContentDigest) async throws

    // Rich notifications, the index by which inboxes find them, and the work that is left to do for them

    /// Stores a draft under the next number, with its audience index, its idempotency key, its claim on contents and the work to hand
    /// it to the hub, in one transaction that is durable on return. Throws `not-found` when a content is not the sender's or
    /// has expired, and `conflict` when the draft asks for a number that is not among the next `IDReservation.limit`. An idempotency key
    /// seen before returns the earlier notification, or `repeatMismatch` for another digest.
    func accept(_ draft: RichNotificationDraft, at now: Timestamp, audit entry: AuditEntry?) async throws -> Acceptance

    /// The last number that was given; zero before the first.
    func lastNumber() async throws -> Int32

    /// The notification, whatever its state.
    func notification(_ id: RichID) async throws -> RichNotification?

    /// What decides whether a user may read a notification, of one moment: the notification, and the user's bindings that held
    /// when it began or later (those that hold, if there is no such notification), newest first, at most `limit`.
    func accessFacts(
        about id: RichID, for user: UserID, limit: Int
    ) async throws -> (notification: RichNotification?, bindings: [Binding])

    /// The notification that this user's idempotency key stands for, if any.
    func repeated(_ key: IdempotencyKey, of user: UserID) async throws -> Acceptance?

    /// The translations at these places of the notifications' `languages`; those that are not stored are absent.
    func translations(_ places: [RichID: Int]) async throws -> [RichID: RichTranslation]

    /// The push of a notification and the key under which the hub takes it once.
    func push(of id: RichID) async throws -> OutgoingPush?

    /// Notifications found under any of the keys and not recalled or refused, newest first; ids below `before` and above `since`.
    func find(_ query: InboxQuery) async throws -> [RichNotification]

    /// Notifications whatever their state, newest first.
    func sends(_ query: SendListQuery) async throws -> [RichNotification]

    /// Notes that the hub took it; the completion is asked for from `check` on. `false` when it was recalled meanwhile.
    func markSent(_ id: RichID, trackingID: NotificationID, check: Timestamp) async throws -> Bool

    /// Notes that the hub refused it permanently: from then on it is not found, and contents that no other notification uses
    /// expire at `now`.
    func markRefused(_ id: RichID, at now: Timestamp, audit entry: AuditEntry?) async throws

    /// Notes when the hub was done with it, and where in the order of this database, if it is the hub's too; no work is left.
    func markCompleted(_ id: RichID, at moment: Timestamp, order: OrderNumber?, audit entry: AuditEntry?) async throws

    /// Recalls it: from then on it is not found, and contents that no other notification uses expire at `contentExpiry`.
    /// `false` when it was recalled before.
    func recall(_ id: RichID, at now: Timestamp, contentExpiry: Timestamp, audit entry: AuditEntry?) async throws -> Bool

    /// Notes that a recalled notification is cancelled at the hub; no work is left. The entry is written unless the send had ended before:
    /// a send ends once.
    func markCancelled(_ id: RichID, at moment: Timestamp, audit entry: AuditEntry?) async throws

    /// Work that is due: what is to be sent or cancelled, then what is only to be asked for, each by the moment for which it was set.
    /// Work of a new notification is due some seconds later, so that the node that accepted it can do it first.
    func dueWork(at now: Timestamp, limit: Int) async throws -> [OutboxWork]

    /// Puts work off, unless something else is to be done by now: a recall must not wait.
    func postpone(_ work: OutboxWork, until moment: Timestamp) async throws

    /// Deletes at most `limit` idempotency keys made before `moment`; returns how many.
    func removeIdempotencyKeys(before moment: Timestamp, limit: Int) async throws -> Int

    // What users have read, and what their installations reported

    /// Marks a notification read or unread for a user.
    func setRead(_ read: Bool, of id: RichID, for user: UserID, at now: Timestamp) async throws

    /// Which of the notifications the user has read.
    func readMarks(among ids: [RichID], of user: UserID) async throws -> Set<RichID>

    /// Stores receipts, each once; returns those that were new.
    func record(_ receipts: [StoredReceipt], at now: Timestamp) async throws -> [StoredReceipt]

    /// What an installation reported of a notification while this user was signed in there.
    func receipts(of id: RichID, from installation: InstallationID, of user: UserID) async throws -> [Receipt]

    /// How many installations sent each kind for a notification, among `limit` receipts of a kind.
    func receiptCounts(of id: RichID, limit: Int) async throws -> [Receipt.Kind: Int]

    /// How many installations of each group of an A/B test sent each kind of receipt, from group 0 on; counting stops at `limit`.
    func groupReceipts(of id: RichID, groups: Int, limit: Int) async throws -> [Int: [Receipt.Kind: Int]]

    // Rows whose time has passed
    //
    // Each call is one small transaction; `limit` bounds the rows that it deletes, but for the few that belong to one notification itself,
    // and 0 as its result says that nothing is left to do.

    /// Removes notifications that ended before `ended` or whose own expiry came before `expired`, with all that hangs on them:
    /// places in inboxes, read marks, receipts. One with many of these goes in several calls, itself last.
    ///
    /// Contents that no other notification uses expire at `now`. What still has to be handed to the hub or to be cancelled
    /// there stays until that is done. Returns how many rows went.
    func removeNotifications(
        endedBefore ended: Timestamp, expiredBefore expired: Timestamp, at now: Timestamp, limit: Int
    ) async throws -> Int

    /// Removes bindings that were closed before `moment` and before the oldest notification that is kept began, so that none
    /// can decide about access any more; the tags that only they remember go with them. Returns how many bindings went.
    func removeBindings(closedBefore moment: Timestamp, limit: Int) async throws -> Int

    /// Notes when the latest sweep began, by the wall clock.
    func noteSweep(at moment: Timestamp) async throws

    /// When the latest sweep of any node began; `nil` before the first.
    func lastSweep() async throws -> Timestamp?

    // Everything that is stored about one user, in every table
    //
    // Each call works in small transactions and can be retried after an interruption.

    /// The kinds of records about a user that there are, in the order in which an export shows them.
    var userDataKinds: [String] { get }

    /// At most `limit` records of a kind about the user, after `cursor`. Password hashes, digests of credentials and device
    /// tokens beyond their first six characters are not among the fields.
    func records(_ kind: String, of user: UserID, after cursor: UserDataValue?, limit: Int) async throws -> [UserDataRecord]

    /// Ends every way to sign in as the user and what is signed in. What is kept of their identities is a digest, by which tokens
    /// that were issued before `now` are refused.
    func lockOut(_ user: UserID, at now: Timestamp, audit entry: AuditEntry?) async throws

    /// Notifications that are removed with the user and are not yet recalled, or cancelled at the hub: those they sent, and those for
    /// them alone.
    func notificationsToRecall(of user: User, limit: Int) async throws -> [RichID]

    /// Every device record that was ever bound to the user.
    func devices(of user: UserID) async throws -> [RecordID]

    /// Removes everything that is stored about the user, the user row last. Sends of others to more than the user stay without
    /// naming them; receipts and audit entries stay without an owner. Recall the sends to recall first.
    func erase(_ user: User, at now: Timestamp) async throws
}
