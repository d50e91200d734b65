import RichPushModel

/// Shares the free slots of a node among the hubs that have work for them, so that no hub's many sends keep another's waiting.
///
/// A pure value: who has fewest slices in hand gets the next slot, among equals who waits longest.
public struct HubTurns: Hashable, Sendable {
    /// A hub with slices that are due.
    public struct Waiting: Hashable, Sendable {
        public var hub: HubID
        /// When the slice that waits longest became due.
        public var since: Timestamp

        /// Describes a hub that waits.
        public init(hub: HubID, since: Timestamp) {
            self.hub = hub
            self.since = since
        }
    }

    private var free: Int
    private var waiting: [Waiting]
    private var held: [HubID: Int]

    /// Begins with `free` slots, and what the node has in hand by hub.
    public init(free: Int, waiting: [Waiting], held: [HubID: Int] = [:]) {
        self.free = free
        self.waiting = waiting
        self.held = held
    }

    /// How many slices are asked of which hub next: together as many as are free; empty at the end.
    public mutating func next() -> [(hub: HubID, count: Int)] {
        var counts: [HubID: Int] = [:]
        for _ in 0..<max(free, 0) {
            guard let turn = waiting.min(by: { Self.precedes($0, $1, held) }) else { break }
            held[turn.hub, default: 0] += 1
            counts[turn.hub, default: 0] += 1
        }
        return waiting.compactMap { turn in counts[turn.hub].map { (turn.hub, $0) } }
    }

    /// Takes in what came of a question. A hub that had fewer has no more.
    public mutating func took(_ count: Int, of asked: Int, from hub: HubID) {
        free -= count
        guard count < asked else { return }
        waiting.removeAll { $0.hub == hub }
    }

    private static func precedes(_ left: Waiting, _ right: Waiting, _ held: [HubID: Int]) -> Bool {
        (held[left.hub] ?? 0, left.since, left.hub.number) < (held[right.hub] ?? 0, right.since, right.hub.number)
    }
}
