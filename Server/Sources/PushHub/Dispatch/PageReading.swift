/// The verdicts on a page's targets, by index.
struct PageReading {
    private(set) var verdicts: [TargetVerdict?]
    /// Whether the push service was reached at all.
    let hasAnswer: Bool

    init(_ plan: PagePlan, outcomes: [PushOutcome]) {
        var verdicts: [TargetVerdict?] = plan.targets.map { $0.settled.map(TargetVerdict.settled) }
        for (position, index) in plan.sends.enumerated() {
            guard let record = plan.targets[index].record else { continue }
            let outcome = position < outcomes.count ? outcomes[position] : .unknown(reason: "no outcome")
            verdicts[index] = TargetVerdict(outcome, for: record)
        }
        self.verdicts = verdicts
        hasAnswer = plan.sends.contains { verdicts[$0] != .unsent }
    }

    /// Where the run of unsent targets at the end begins: they need no rows, for the cursor stays before them.
    var tail: Int { (verdicts.lastIndex { $0 != .unsent } ?? -1) + 1 }

    /// Takes the unsent ones out.
    mutating func dropUnsent() { verdicts = verdicts.map { $0 == .unsent ? nil : $0 } }
}
