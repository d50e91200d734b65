/// How long a node may believe in its lease, on its own monotonic clock, counted from before it asked.
///
/// A node sends only while the lease outlasts the deadline of a push: after that another node may have the slice.
struct LeaseTerm: Hashable, Sendable {
    /// What to do before the next batch.
    enum Instruction: Hashable, Sendable {
        case send
        case renew
    }

    private(set) var askedAt: Duration
    let duration: Duration
    let pushDeadline: Duration

    init(askedAt: Duration, duration: Duration, pushDeadline: Duration) {
        self.askedAt = askedAt
        self.duration = duration
        self.pushDeadline = pushDeadline
    }

    func instruction(at uptime: Duration) -> Instruction {
        askedAt + duration - uptime > pushDeadline ? .send : .renew
    }

    /// When another node may have the slice.
    var end: Duration { askedAt + duration }

    /// The lease was lengthened by a request made at that moment.
    mutating func renewed(askedAt uptime: Duration) { askedAt = max(askedAt, uptime) }
}
