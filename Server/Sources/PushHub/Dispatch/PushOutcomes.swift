/// What became of the targets of a batch, in their order.
///
/// What is said of all of them is kept once: nearly every batch is accepted whole, and a thousand outcomes cost more to make, to look
/// at and to free than the decision what to do about them.
public struct PushOutcomes: Sendable {
    private enum Kept: Sendable {
        case same(PushOutcome, count: Int)
        case each([PushOutcome])
    }

    private let kept: Kept

    /// One outcome for each target.
    public init(_ outcomes: [PushOutcome]) { kept = .each(outcomes) }

    /// The same outcome for so many targets.
    public init(repeating outcome: PushOutcome, count: Int) { kept = .same(outcome, count: count) }

    /// The outcome of all targets, where it was said of all at once; `nil` does not mean that they differ.
    public var common: PushOutcome? { if case .same(let outcome, _) = kept { outcome } else { nil } }

    /// Whether every target was accepted.
    public var areAllAccepted: Bool {
        switch kept {
        case .same(let outcome, _): outcome == .accepted
        case .each(let outcomes): outcomes.allSatisfy { $0 == .accepted }
        }
    }
}

extension PushOutcomes: RandomAccessCollection {
    public var startIndex: Int { 0 }

    public var endIndex: Int {
        switch kept {
        case .same(_, let count): count
        case .each(let outcomes): outcomes.count
        }
    }

    public subscript(position: Int) -> PushOutcome {
        switch kept {
        case .same(let outcome, let count):
            precondition(position < count, "there is no such target")
            return outcome
        case .each(let outcomes): return outcomes[position]
        }
    }
}

extension PushOutcomes: ExpressibleByArrayLiteral {
    public init(arrayLiteral outcomes: PushOutcome...) { self.init(outcomes) }
}

extension PushOutcomes: Equatable {
    public static func == (left: PushOutcomes, right: PushOutcomes) -> Bool { left.elementsEqual(right) }
}
