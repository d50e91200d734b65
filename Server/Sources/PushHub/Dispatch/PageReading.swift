/// The verdicts on a page's targets, by index.
struct PageReading {
    /// How much the push service said.
    enum Answer: Hashable {
        /// Nothing was sent.
        case nothingAsked
        /// Of all that was sent nothing left.
        case none
        case some
    }

    private(set) var verdicts: [TargetVerdict]
    /// What was said of the pushes that were not accepted, by index.
    private(set) var reasons: [Int: String] = [:]
    let answer: Answer
    /// How many were to leave, and of them how many did not.
    let asked: Int
    let unsent: Int

    init(_ plan: PagePlan, outcomes: PushOutcomes) {
        var verdicts = plan.settled.map { $0.map(TargetVerdict.settled) ?? .unsent }
        for (position, index) in plan.sends.enumerated() {
            let outcome = position < outcomes.count ? outcomes[position] : .unknown(reason: "no outcome")
            verdicts[index] = TargetVerdict(outcome, registeredAt: plan.page.registeredAt(index))
            if let reason = outcome.reason { reasons[index] = reason }
        }
        self.verdicts = verdicts
        asked = plan.sends.count
        unsent = plan.sends.count { verdicts[$0] == .unsent }
        answer = asked == 0 ? .nothingAsked : unsent == asked ? .none : .some
    }

    /// Where the run of unsent targets at the end begins: they need no rows, for the cursor stays before them.
    var tail: Int { (verdicts.lastIndex { $0 != .unsent } ?? -1) + 1 }

    /// Whether so much did not leave that going on at once would only press on a service in trouble: more than 5 %. Fewer
    /// are those targets' own fault, and wait alone.
    var isBroadlyUnsent: Bool { answer == .none || unsent > max(1, asked / 20) }

    /// The time of what did not leave is over.
    mutating func expireUnsent() { verdicts = verdicts.map { $0 == .unsent ? .settled(.expired) : $0 } }
}
