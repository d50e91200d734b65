/// The bounds on what a client holds and opens.
public struct APNsClientLimits: Sendable, Hashable {
    /// The most connections at a time, those that drain after a GOAWAY not counted.
    public var connections: Int
    /// The most streams on one connection, whatever the server allows. APNs was seen to allow up to 4,000
    /// (Reference/APNs.md#1-4).
    public var streamsPerConnection: Int
    /// The most bulk pushes in the queue, and the most express ones beside them. A batch that does not fit enters as the queue
    /// drains, and its caller waits; as many batches may. A single push, or a batch too many, ends at once as not sent (queue full),
    /// and so does a call when so many are handed over faster than the event loop takes them.
    public var queuedPushes: Int
    /// How often one push is sent again after a connection refused it that answers nothing else. What a connection refuses while it
    /// goes on answering, and what was not processed when one ended, is sent again until its deadline.
    public var resends: Int

    /// Creates limits; each is at least 1, but for `resends`, which is at least 0.
    public init(connections: Int = 64, streamsPerConnection: Int = 4000, queuedPushes: Int = 100_000, resends: Int = 3) {
        self.connections = max(1, connections)
        self.streamsPerConnection = min(max(1, streamsPerConnection), 16_384)
        self.queuedPushes = max(1, queuedPushes)
        self.resends = min(max(0, resends), 100)
    }
}
