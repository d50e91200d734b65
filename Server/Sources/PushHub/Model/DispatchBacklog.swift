import RichPushModel

/// How much there is to dispatch, over all hubs and nodes. In slices, which are what nodes work on.
public struct DispatchBacklog: Hashable, Sendable {
    /// Slices that are due and in nobody's hands, by weight.
    public var due: [SliceWeight: Int]
    /// Slices that wait for a time: scheduled, backing off or paced.
    public var waiting: Int
    /// Slices in the hands of a node.
    public var leased: Int

    /// Since when the slice that is due longest waits; absent when none is due.
    public var oldestDueAt: Timestamp?

    /// Creates a backlog.
    public init(due: [SliceWeight: Int] = [:], waiting: Int = 0, leased: Int = 0, oldestDueAt: Timestamp? = nil) {
        self.due = due
        self.waiting = waiting
        self.leased = leased
        self.oldestDueAt = oldestDueAt
    }
}
