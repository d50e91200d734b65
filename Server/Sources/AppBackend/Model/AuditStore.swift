import AuditTrail
import RichPushModel

/// Which audit entries are asked for.
public struct AuditFilter: Hashable, Sendable {
    public var action: AuditAction?
    /// The name of who acted, without regard to case.
    public var actor: String?
    /// The name of whom it was about, without regard to case.
    public var subject: String?
    /// The first moment, and the moment before which they end.
    public var from: Timestamp?
    public var until: Timestamp?

    /// All entries.
    public init() {}
}

/// Where the chain begins, which is where it was pruned to, and where it ends.
public struct AuditEnds: Hashable, Sendable {
    public var anchor: AuditHead
    public var head: AuditHead

    /// Creates ends.
    public init(anchor: AuditHead, head: AuditHead) {
        self.anchor = anchor
        self.head = head
    }
}

/// What of the audit goes with a user who is erased.
public struct AuditErasure: Hashable, Sendable {
    public var user: UserName
    /// Installations of the user and of no other user.
    public var installations: [InstallationID]
    /// What happened before this moment stays.
    public var since: Timestamp
    /// Up to this number no audience is read, since an erasure before did.
    public var readTo: Int64

    /// Creates an erasure.
    public init(of user: UserName, installations: [InstallationID], since: Timestamp, readTo: Int64 = 0) {
        self.user = user
        self.installations = installations
        self.since = since
        self.readTo = readTo
    }
}

/// Keeps the audit. Errors are `ServiceError`.
///
/// An entry is written in the transaction of its act, without a number, so that acts do not wait for each other. Sealing gives it its
/// number and hash a moment later, one transaction at a time over all nodes.
public protocol AuditStore: Sendable {
    /// Writes an entry by itself: for an act that changes nothing else.
    func record(_ entry: AuditEntry) async throws

    /// Gives the oldest entries without a number their places in the chain, at most `limit`; how many that were.
    func sealAudit(limit: Int) async throws -> Int

    /// Sealed entries, newest first, with numbers between the two.
    func auditEntries(_ filter: AuditFilter, after: Int64, before: Int64, limit: Int) async throws -> [SealedAuditEntry]

    /// Sealed entries in the order of their numbers, after `number`: for a verifier. A row that is none any more, or whose names are not
    /// those of its texts, is an entry with another hash than the stored one.
    func auditEntries(after number: Int64, limit: Int) async throws -> [SealedAuditEntry]

    /// Where the chain begins and ends.
    func auditEnds() async throws -> AuditEnds

    /// Keeps a signed checkpoint. One of the same size is kept already then.
    func keep(_ checkpoint: AuditCheckpoint, at now: Timestamp) async throws

    /// Checkpoints in the order of their sizes, after `size`.
    func auditCheckpoints(after size: Int64, limit: Int) async throws -> [AuditCheckpoint]

    /// Removes up to `limit` entries up to the newest checkpoint that was made before `moment`, which becomes the anchor. An entry that says
    /// so under the key is written in the transaction that moves the anchor. How many entries went.
    func pruneAudit(
        madeBefore moment: Timestamp, at now: Timestamp, signedBy key: AuditSigningKey, limit: Int
    ) async throws -> Int

    /// Erases the texts of entries that a user made, that are about them, or that name them or an installation of theirs in an audience,
    /// in transactions of `batch` entries. Seals what is committed. The chain stays as it is.
    func eraseAudit(_ erasure: AuditErasure, batch: Int) async throws
}
