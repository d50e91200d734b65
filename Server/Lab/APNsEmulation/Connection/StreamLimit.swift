/// MAX_CONCURRENT_STREAMS of one connection over time (Reference/APNs.md#1-4): what was announced, what the client has
/// acknowledged, and how many streams it may therefore have open.
struct StreamLimit: Sendable {
    var rules: EmulationRules {
        didSet { if rules.concurrentStreams != oldValue.concurrentStreams { commanded = nil } }
    }
    /// The value of the newest SETTINGS frame.
    private(set) var announced: Int
    /// Announced and not yet acknowledged, oldest first. The first SETTINGS frame is one of them.
    private var unacknowledged: [Int]
    /// How many of the newest of those have not left.
    private var unsent = 0
    /// How many streams ended by something that has not left: to the client they are open.
    private var unsentEnds = 0
    /// From the start the first limit holds: opening more before SETTINGS arrived is what Apple punishes.
    private var acknowledged: Int
    /// The limit that a fault or a command has set: it stays until another one does, or the rules change.
    private var commanded: Int?

    init(rules: EmulationRules) {
        self.rules = rules
        announced = rules.firstConcurrentStreams
        unacknowledged = [announced]
        acknowledged = announced
    }

    /// Whether one more stream may be opened beside `open` others. What the client could not know when it wrote does not help it: a
    /// higher limit, or the end of a stream, that is answered to what came in the same bytes.
    func allows(open: Int) -> Bool {
        let known = unacknowledged.dropLast(unsent)
        let open = open + unsentEnds
        guard rules.limitEnforcement == .whenAcknowledged else { return open < min(announced, known.last ?? acknowledged) }
        return open < known.reduce(acknowledged, max)
    }

    /// A stream ended, and the client is told with the next flush.
    mutating func ended() { unsentEnds += 1 }

    /// What was written has left.
    mutating func flushed() { (unsent, unsentEnds) = (0, 0) }

    /// An answer was given. Returns the limit to announce, if it changes.
    mutating func answered(status: Int) -> Int? {
        var wanted = announced
        if (200..<300).contains(status) {
            wanted = commanded ?? rules.concurrentStreams
        } else if (400..<500).contains(status), status != 410, rules.lowersLimitAfterRejection {
            wanted = rules.firstConcurrentStreams
        }
        return wanted == announced ? nil : wanted
    }

    /// Somebody has set the limit; `announce` follows.
    mutating func command(_ limit: Int) { commanded = limit }

    /// A SETTINGS frame with this limit was sent.
    mutating func announce(_ limit: Int) {
        announced = limit
        unacknowledged.append(limit)
        unsent += 1
    }

    /// The client acknowledged the oldest SETTINGS frame.
    mutating func acknowledge() {
        guard !unacknowledged.isEmpty else { return }
        acknowledged = unacknowledged.removeFirst()
        unsent = min(unsent, unacknowledged.count)
    }
}
