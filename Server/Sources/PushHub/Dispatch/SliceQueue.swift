import RichPushModel

/// The work that is to be dispatched, shared by all nodes. A lease gives a slice to one node for a while; every lease
/// counts the slice's epoch up, and what a node writes counts only while the epoch is its own.
///
/// Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`).
public protocol SliceQueue: Sendable {
    /// Takes slices that are due and free: small ones, then large ones, and single ones besides; of each kind the hubs take turns
    /// (`FairScheduler`), of the large ones of a hub the platforms, and then those go first that waited longest. Their sends become
    /// `dispatching`.
    func lease(_ request: LeaseRequest) async throws -> [SliceLease]

    /// Lengthens a lease; whether it was still the caller's.
    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool

    /// What to do next in a slice, from one snapshot; `nil` when the slice or its send is gone. If retries are due and the
    /// walk can go on as well, the request's `turn` decides.
    func page(_ request: PageRequest) async throws -> SlicePage?

    /// Counts the slice's send for the users of these targets, once for each; returns the targets whose users had as many before as the
    /// cap allows. For them nothing is counted. A user for whom the send was counted before, for another device or by a worker that died,
    /// is not held back.
    func count(_ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp) async throws -> Set<SliceKey>

    /// Stores what became of a page: cursor, tallies, pending rows and what was learned of devices, in one transaction, and
    /// only if the lease is still the caller's and the cursor does not go back.
    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer

    /// Stores several checkpoints of different slices in one transaction: all of them, or none when it throws. One answer for each.
    ///
    /// Throws `CheckpointsInConflict` after several conflicts with other transactions.
    func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer]

    /// Frees every lease of an owner when the only process of that name starts; every lease for `nil`, when the only process that may
    /// use the store starts. Paced slices rest for a second, since it is unknown which pushes were just sent. Returns the count.
    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int

    /// Frees the leases of an owner except these: the answer that granted the others was lost. Returns the count.
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
    /// How many slices of each weight the node has leased, by hub.
    public var held: [SliceWeight: [HubID: Int]]
    /// How many of the large ones, by hub and platform. The empty text stands for the platform of the message.
    public var heldPlatforms: [HubID: [String: Int]]

    public init(
        owner: String, now: Timestamp, until: Timestamp, limit: Int, smallLimit: Int, largeLimit: Int, singleLimit: Int,
        held: [SliceWeight: [HubID: Int]] = [:], heldPlatforms: [HubID: [String: Int]] = [:]
    ) {
        self.owner = owner
        self.now = now
        self.until = until
        self.limit = limit
        self.smallLimit = smallLimit
        self.largeLimit = largeLimit
        self.singleLimit = singleLimit
        self.held = held
        self.heldPlatforms = heldPlatforms
    }
}

/// Checkpoints could not be written together because of conflicts, perhaps of only one of them. Nothing was written; each may succeed
/// by itself.
public struct CheckpointsInConflict: Error, Hashable, Sendable {
    public init() {}
}

/// What storage says to a checkpoint.
public enum CheckpointAnswer: Hashable, Sendable {
    /// Another node holds the lease, or an earlier checkpoint was further; nothing was written.
    case refused
    /// Written. `ended` is the final state if this was the last of the send.
    case stored(ended: NotificationState?)
}

/// The name of a slice.
public struct SliceID: Hashable, Sendable {
    public var hub: HubID
    public var notification: NotificationID
    public var number: Int64

    public init(hub: HubID, notification: NotificationID, number: Int64) {
        self.hub = hub
        self.notification = notification
        self.number = number
    }
}

/// A slice that a node has leased, and its progress.
public struct SliceLease: Hashable, Sendable {
    public var id: SliceID
    /// Every target up to this key is settled or has a pending row.
    public var cursor: SliceKey
    public var last: SliceKey
    public var weight: SliceWeight
    /// The platform of its devices, where that is not the message's.
    public var platform: Platform?
    /// Targets the walk has passed.
    public var walked: Int
    /// Consecutive times that no target of a page of the walk could be sent to.
    public var failures: Int
    /// Since when the walk has got no answer. Retries leave it alone.
    public var stalledSince: Timestamp?
    /// The slice's share of the pace of its send, if that has one.
    public var pushesPerSecond: Int?
    public var epoch: Int64

    public init(
        id: SliceID, cursor: SliceKey, last: SliceKey, weight: SliceWeight, platform: Platform? = nil, walked: Int = 0,
        failures: Int = 0, stalledSince: Timestamp? = nil, pushesPerSecond: Int? = nil, epoch: Int64
    ) {
        self.id = id
        self.cursor = cursor
        self.last = last
        self.weight = weight
        self.platform = platform
        self.walked = walked
        self.failures = failures
        self.stalledSince = stalledSince
        self.pushesPerSecond = pushesPerSecond
        self.epoch = epoch
    }
}

/// Shares free slots among those that have work for them, so that the many slices of one keep no other waiting: the slots of a node among
/// hubs, and those that a hub gets among its platforms.
///
/// A pure value: the one with the fewest leased slices gets the next slot; among equals, the one that has waited longest.
public struct FairScheduler<Key: Hashable & Comparable & Sendable>: Hashable, Sendable {
    /// One with slices that are due.
    public struct Waiting: Hashable, Sendable {
        public var key: Key
        /// When the slice that waits longest became due.
        public var since: Timestamp

        /// Describes one that waits.
        public init(_ key: Key, since: Timestamp) {
            self.key = key
            self.since = since
        }
    }

    private var free: Int
    private var waiting: [Waiting]
    private var held: [Key: Int]

    /// Begins with `free` slots and the number of slices that the node has leased from each.
    public init(free: Int, waiting: [Waiting], held: [Key: Int] = [:]) {
        self.free = free
        self.waiting = waiting
        self.held = held
    }

    /// How many slices are asked of which next: together as many as are free; empty at the end.
    public mutating func next() -> [(key: Key, count: Int)] {
        var counts: [Key: Int] = [:]
        for _ in 0..<max(free, 0) {
            guard let turn = waiting.min(by: { Self.precedes($0, $1, held) }) else { break }
            held[turn.key, default: 0] += 1
            counts[turn.key, default: 0] += 1
        }
        return waiting.compactMap { turn in counts[turn.key].map { (turn.key, $0) } }
    }

    /// Takes in the answer to a question. One that had fewer slices than it was asked for has no more.
    public mutating func took(_ count: Int, of asked: Int, from key: Key) {
        free -= count
        guard count < asked else { return }
        waiting.removeAll { $0.key == key }
    }

    private static func precedes(_ left: Waiting, _ right: Waiting, _ held: [Key: Int]) -> Bool {
        (held[left.key] ?? 0, left.since, left.key) < (held[right.key] ?? 0, right.since, right.key)
    }
}
