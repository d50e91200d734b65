/// How long and how much. The defaults are those of a node.
public struct PostgresLimits: Hashable, Sendable {
    /// Connections that write.
    public var writers = 2
    /// Connections that read.
    public var readers = 6
    /// How long connecting may take; whole seconds, at least 2.
    public var connect: Duration = .seconds(5)
    /// How long the server works on one statement before it gives up.
    public var statement: Duration = .seconds(15)
    /// How long work waits for a connection before it is refused.
    public var queue: Duration = .seconds(10)
    /// How many reads, and how many writes, may wait; more are refused.
    public var waiting = 4096
    /// How many writes share a commit at most.
    public var batch = 128
    /// How long a write is repeated that others are in the way of.
    public var conflict: Duration = .seconds(10)

    /// How long a cancelled caller waits for its answer: what is handed back at the end of a process is written when all is well.
    public var grace: Duration = .seconds(1)

    /// How long an answer is waited for: a little longer than the server works, so that its own word comes first.
    var answer: Duration { statement + statement / 5 + .seconds(1) }

    /// The defaults.
    public init() {}

    /// The defaults with so many connections, at least two; one in four writes.
    public init(connections: Int) {
        writers = max(1, connections / 4)
        readers = max(1, connections - writers)
    }
}
