/// How a node dispatches.
public struct DispatchSettings: Sendable {
    /// Names the node, for operators.
    public var owner = "node"
    /// Targets of a slice that may be past its stored cursor: after a crash at most `slots` times this are repeated, and
    /// `singleSlots` times `SliceWeight.singleLimit`.
    public var window = 1_000
    /// Records that are looked at for one page of a scan.
    public var scanLimit = 10_000
    /// Small and large slices worked on at the same time.
    public var slots = 4
    /// How many of them may be large.
    public var largeSlots = 3
    /// Single slices worked on at the same time as those: a one-device send never waits behind a broadcast.
    public var singleSlots = 16
    /// Pages after which a slice goes back to the end of the queue.
    public var pagesPerTurn = 32
    /// Time after which it does, whatever came of it: a slow page of one hub is not followed by many more while others wait.
    public var turnDuration: Duration = .seconds(2)
    /// How long a lease holds without being lengthened.
    public var leaseDuration: Duration = .seconds(60)
    /// The transport's deadline for a batch.
    public var pushDeadline: Duration = .seconds(30)
    /// How often the queue is looked at when nobody calls.
    public var pollInterval: Duration = .milliseconds(500)
    /// How long a target is tried when the caller gave no expiry.
    public var retryHorizon: Duration = .seconds(1800)
    /// How often pushes are tried.
    public var retries = RetryTable()
    /// How long batches that have left may take once the node is asked to stop.
    public var drainDeadline: Duration = .seconds(10)
    /// Which leases that are found at the start are those of a process that died.
    public var takeover = LeaseTakeover.all

    /// The defaults.
    public init() {}

    /// With so many pending rows a slice's walk waits: 5 % of what it has walked, but at least 50.
    func pendingLimit(walked: Int) -> Int { min(max(50, walked / 20), window) }
}
