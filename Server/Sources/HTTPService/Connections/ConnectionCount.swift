/// How many connections are open, as a value: who is let in, and when the operator is told of those who are not.
struct ConnectionCount {
    /// What happens to a new connection.
    enum Decision: Hashable {
        case admit
        /// `report` is how many were refused since the last report, when it is time for one.
        case refuse(report: Int?)
    }

    private(set) var open = 0
    private let limit: Int
    private let reportInterval: Duration
    private var refused = 0
    private var reported: Duration?

    init(limit: Int, reportInterval: Duration = .seconds(10)) {
        self.limit = limit
        self.reportInterval = reportInterval
    }

    /// A client connects at an uptime.
    mutating func opened(at uptime: Duration) -> Decision {
        guard open >= limit else {
            open += 1
            return .admit
        }
        refused += 1
        if let reported, uptime - reported < reportInterval { return .refuse(report: nil) }
        defer {
            reported = uptime
            refused = 0
        }
        return .refuse(report: refused)
    }

    /// A connection that was let in has ended.
    mutating func closed() { open -= 1 }
}
