import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Records that app and extension share: each is written whole or not at all, and no lock is held (Reference/IOSClient.md#5).
///
/// All but the session record belongs to a session and vanishes with it: writes for a session that has ended fail, in every
/// process, so that work that was under way during a sign-out leaves nothing behind.
public protocol SharedStore: Sendable {
    /// The current session; `nil` when nobody is signed in.
    func session() throws(StorageError) -> Session?
    /// Makes room for a session and then makes it the current one.
    func begin(_ session: Session) throws(StorageError)
    /// Replaces the record of the current session.
    func update(_ session: Session) throws(StorageError)
    /// Ends every session: forgets the record first, then all that belonged to it.
    func wipe() throws(StorageError)

    func record(_ key: RecordKey) throws(StorageError) -> Data?
    func setRecord(_ data: Data, for key: RecordKey) throws(StorageError)
    func removeRecord(_ key: RecordKey) throws(StorageError)
    /// Every record of a collection, in no order, at most `limit`.
    func records(_ collection: RecordKey.Collection, of session: SessionID, limit: Int) throws(StorageError) -> [Data]

    /// Takes a name for one process until `expiry`; `nil` when another one holds it. Never waits.
    func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim?
    /// Gives a name back, unless it expired and another process has taken it since.
    func release(_ claim: HeldClaim) throws(StorageError)
}

/// A name that this process holds.
public struct HeldClaim: Hashable, Sendable {
    public var key: RecordKey
    /// Tells it from what another process made of the same name, before or after.
    public var token: String

    /// Describes a claim; for whoever implements `SharedStore`.
    public init(_ key: RecordKey, token: String) {
        self.key = key
        self.token = token
    }
}

/// The name of a record.
public struct RecordKey: Hashable, Sendable {
    /// What kind of record.
    public enum Collection: String, Sendable, CaseIterable {
        /// Single records of a session: inbox, registration.
        case state
        /// What is known of a notification.
        case details
        /// Notifications that were shown, so that a repeated push shows nothing.
        case shown
        /// Work for the server: receipts and read marks.
        case outbox
        /// Names taken by a process.
        case claims
    }

    public var session: SessionID
    public var collection: Collection
    /// Any text; it never becomes part of a path.
    public var id: String

    /// Creates a name.
    public init(_ collection: Collection, _ id: String, of session: SessionID) {
        self.session = session
        self.collection = collection
        self.id = id
    }
}
