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
    /// How long a transaction waits for a lock that another holds before it makes room for others. It is tried again until `statement`
    /// is over since it was asked for.
    public var lock: Duration = .seconds(2)
    /// How long a write that others were in the way of waits for its turn on a connection, before it makes room for others and asks
    /// for it again. More than `lock`: each of those before it may need that much, and who gives up loses the place.
    public var turn: Duration = .seconds(5)
    /// How long after it was asked for a write may be committed; then it is undone. Who reads what many write can rely on it.
    public var life: Duration = .seconds(60)
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

    /// How long a lock is waited for: so that the server's word of the lock comes before its word of the statement.
    var patience: Duration { min(lock, statement / 5) }
    /// How long a turn is waited for: so that the server's word of the lock comes before its word of the statement.
    var turnPatience: Duration { min(turn, statement / 3) }
    /// The same for writes while other work is known to wait for locks.
    let shortPatience: Duration = .milliseconds(50)
    /// The same for reads then, and for the writes of a group in which one has waited.
    let noPatience: Duration = .milliseconds(10)
    /// How long after it was asked for work may begin.
    var begin: Duration { queue + statement }

    /// The defaults.
    public init() {}

    /// The defaults with so many connections, at least two; one in four writes.
    public init(connections: Int) {
        writers = max(1, connections / 4)
        readers = max(1, connections - writers)
    }
}
