import RichPushModel

/// The work that is to be dispatched, shared by all nodes. A lease gives a slice to one node for a while; every lease
/// counts the slice's epoch up, and what a node writes counts only while the epoch is its own.
///
/// Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`).
public protocol SliceQueue: Sendable {
    /// Takes slices that are due and free: small ones, then large ones, and single ones besides; of each kind the hubs take turns
    /// (`HubTurns`), and of a hub those go first that waited longest. Their sends become `dispatching`.
    func lease(_ request: LeaseRequest) async throws -> [SliceLease]

    /// Lengthens a lease; whether it was still the caller's.
    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool

    /// What to do next in a slice, from one snapshot; `nil` when the slice or its send is gone. If retries are due and the
    /// walk can go on as well, the request's `turn` decides.
    func page(_ request: PageRequest) async throws -> SlicePage?

    /// Stores what became of a page: cursor, tallies, pending rows and what was learned of devices, in one transaction, and
    /// only if the lease is still the caller's and the cursor does not go back.
    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer

    /// Stores several checkpoints of different slices in one transaction: all of them, or none when it throws. One answer for each.
    ///
    /// Throws `CheckpointsInConflict` when others were in the way of that several times.
    func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer]

    /// Frees every lease of an owner, at the start of the one process of that name; every lease for `nil`, at the start of the one
    /// process that may use the store. Slices that have a pace rest for a second, since nobody knows what has just left. Returns how many there
    /// were.
    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int

    /// Frees the leases of an owner that are none of these: it was given them in an answer that never came. Returns how many
    /// there were.
    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int
}

/// Which slices a node wants.
public struct LeaseRequest: Hashable, Sendable {
    /// Names the node, for operators.
    public var owner: String
    public var now: Timestamp
    public var until: Timestamp
    /// At most so many small and large ones together.
    public var limit: Int
    /// At most so many of them small.
    public var smallLimit: Int
    /// At most so many of them large.
    public var largeLimit: Int
    /// At most so many single ones, besides the others.
    public var singleLimit: Int
    /// What the node has in hand of each kind, by hub.
    public var held: [SliceWeight: [HubID: Int]]

    /// Creates a request.
    public init(
        owner: String, now: Timestamp, until: Timestamp, limit: Int, smallLimit: Int, largeLimit: Int, singleLimit: Int,
        held: [SliceWeight: [HubID: Int]] = [:]
    ) {
        self.owner = owner
        self.now = now
        self.until = until
        self.limit = limit
        self.smallLimit = smallLimit
        self.largeLimit = largeLimit
        self.singleLimit = singleLimit
        self.held = held
    }
}

/// Others are in the way of checkpoints that were to be written together: of one of them, perhaps. Nothing was written; each by itself
/// may be.
public struct CheckpointsInConflict: Error, Hashable, Sendable {
    /// Creates the error.
    public init() {}
}

/// What storage says to a checkpoint.
public enum CheckpointAnswer: Hashable, Sendable {
    /// The lease is another's by now, or an earlier checkpoint was further; nothing was written.
    case refused
    /// Written. `ended` is the final state if this was the last of the send.
    case stored(ended: NotificationState?)
}
