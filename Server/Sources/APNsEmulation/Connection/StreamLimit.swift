/// MAX_CONCURRENT_STREAMS of one connection over time (APNs reference 1.4): what was announced, what the client has
/// acknowledged, and how many streams it may therefore have open.
struct StreamLimit: Sendable {
    var rules: EmulationRules
    /// The value of the newest SETTINGS frame.
    private(set) var announced: Int
    /// Announced and not yet acknowledged, oldest first. The first SETTINGS frame is one of them.
    private var unacknowledged: [Int]
    /// From the start the first limit holds: opening more before SETTINGS arrived is what Apple punishes.
    private var acknowledged: Int

    init(rules: EmulationRules) {
        self.rules = rules
        announced = rules.firstConcurrentStreams
        unacknowledged = [announced]
        acknowledged = announced
    }

    /// Whether one more stream may be opened beside `open` others.
    func allows(open: Int) -> Bool {
        guard rules.limitEnforcement == .whenAcknowledged else { return open < announced }
        return open < unacknowledged.reduce(acknowledged, max)
    }

    /// An answer was given. Returns the limit to announce, if it changes.
    mutating func answered(status: Int) -> Int? {
        var wanted = announced
        if (200..<300).contains(status) {
            wanted = rules.concurrentStreams
        } else if (400..<500).contains(status), status != 410, rules.lowersLimitAfterRejection {
            wanted = rules.firstConcurrentStreams
        }
        return wanted == announced ? nil : wanted
    }

    /// A SETTINGS frame with this limit was sent.
    mutating func announce(_ limit: Int) {
        announced = limit
        unacknowledged.append(limit)
    }

    /// The client acknowledged the oldest SETTINGS frame.
    mutating func acknowledge() {
        guard !unacknowledged.isEmpty else { return }
        acknowledged = unacknowledged.removeFirst()
    }
}
