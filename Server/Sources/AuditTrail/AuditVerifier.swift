import RichPushModel

/// An entry with its place in the chain, as it is stored.
public struct SealedAuditEntry: Hashable, Sendable {
    /// 1 for the first entry that there ever was.
    public var number: Int64
    public var entry: AuditEntry
    /// The hash that was stored.
    public var hash: [UInt8]

    /// Creates a sealed entry.
    public init(number: Int64, entry: AuditEntry, hash: [UInt8]) {
        self.number = number
        self.entry = entry
        self.hash = hash
    }
}

/// What is wrong with an audit.
public enum AuditProblem: Hashable, Sendable, CustomStringConvertible {
    /// Entries between these numbers are gone, or were never there.
    case missing(ClosedRange<Int64>)
    /// An entry is not what it was when it was sealed, or was put in later.
    case changed(Int64)
    /// A text of an entry is not the one that the entry commits to.
    case textReplaced(Int64)
    /// The signature of a checkpoint is not of the key.
    case forgedCheckpoint(size: Int64)
    /// No signed checkpoint is the anchor: entries were cut off at the beginning by other means than pruning.
    case unsignedAnchor(size: Int64)
    /// The audit begins at a checkpoint, but no entry with the server's signature says that what was before it was pruned.
    case unrecordedPruning(size: Int64)
    /// The entries up to a checkpoint are others than those that were signed.
    case contradictedCheckpoint(size: Int64)
    /// A checkpoint or the stored head counts more entries than there are: the end was cut off.
    case cutOff(counted: Int64, found: Int64)

    public var description: String {
        switch self {
        case .missing(let range) where range.count == 1: "entry \(range.lowerBound) is missing"
        case .missing(let range): "entries \(range.lowerBound) to \(range.upperBound) are missing"
        case .changed(let number): "entry \(number) was changed or inserted"
        case .textReplaced(let number): "a text of entry \(number) was replaced"
        case .forgedCheckpoint(let size): "the checkpoint of size \(size) is not signed by the key of this audit"
        case .unsignedAnchor(let size): "the audit begins after entry \(size), where no checkpoint was signed"
        case .unrecordedPruning(let size):
            "the audit begins after entry \(size), and no signed entry says that it was pruned to there"
        case .contradictedCheckpoint(let size): "the entries up to \(size) are not those that the checkpoint of that size signed"
        case .cutOff(let counted, let found): "a checkpoint or the head counts \(counted) entries, and there are \(found)"
        }
    }
}

/// Reads an audit from its anchor to its end and finds what was changed, removed or inserted. A value: it is fed with entries in the
/// order of their numbers, so that an audit of any length is read in pages.
///
/// A verifier with checkpoints from elsewhere also notices an audit that was rewritten as a whole by a person who has the database.
public struct AuditVerifier: Sendable {
    /// The problems found so far, in the order in which they were found.
    public private(set) var problems: [AuditProblem] = []
    /// Where the entries read so far end.
    public private(set) var head: AuditHead
    /// How many of the entries read so far have a text that was erased. Erasing a person does that; another way to blank a
    /// text looks the same.
    public private(set) var erasedEntries: Int64 = 0
    /// How many checkpoints sign entries that were pruned: only their signatures could be verified.
    public let prunedCheckpoints: Int
    private let anchor: AuditHead
    private let key: AuditPublicKey
    private var isAnchorRecorded: Bool
    private var checkpoints: [AuditCheckpoint]

    /// Begins at the anchor: the empty head, or the checkpoint to which the audit was pruned. A signed entry behind it must say so.
    public init(anchor: AuditHead, checkpoints: [AuditCheckpoint], key: AuditPublicKey) {
        head = anchor
        self.anchor = anchor
        self.key = key
        isAnchorRecorded = anchor.size == 0
        prunedCheckpoints = checkpoints.count { $0.head.size < anchor.size }
        for checkpoint in checkpoints where !checkpoint.isSigned(by: key) {
            problems.append(.forgedCheckpoint(size: checkpoint.head.size))
        }
        self.checkpoints = checkpoints.filter { $0.isSigned(by: key) && $0.head.size >= anchor.size }
            .sorted { $0.head.size > $1.head.size }
        if anchor.size > 0, !self.checkpoints.contains(where: { $0.head.size == anchor.size }) {
            problems.append(.unsignedAnchor(size: anchor.size))
        }
        compareCheckpoints()
    }

    /// Reads the next entry.
    public mutating func read(_ sealed: SealedAuditEntry) {
        if sealed.number > head.size + 1 {
            problems.append(.missing(head.size + 1...sealed.number - 1))
            // What is behind a gap is verified from the hash that was stored, so that one gap is one problem.
            return resume(after: sealed)
        }
        guard sealed.number == head.size + 1 else { return problems.append(.changed(sealed.number)) }
        let next = head.appending(sealed.entry)
        guard next.hash == sealed.hash else {
            problems.append(.changed(sealed.number))
            return resume(after: sealed)
        }
        let texts = [sealed.entry.actor, sealed.entry.subject, sealed.entry.details]
        if !texts.allSatisfy(\.isTrue) { problems.append(.textReplaced(sealed.number)) }
        if texts.contains(where: { $0.content == nil }) { erasedEntries += 1 }
        if !isAnchorRecorded, sealed.entry.prunes(to: anchor, signedBy: key) { isAnchorRecorded = true }
        head = next
        compareCheckpoints()
    }

    /// Says that there are no more entries; returns all problems. `size` is how many entries the stored head counts.
    public mutating func finish(expecting size: Int64 = 0) -> [AuditProblem] {
        let counted = max(size, checkpoints.first?.head.size ?? 0)
        if counted > head.size { problems.append(.cutOff(counted: counted, found: head.size)) }
        if !isAnchorRecorded { problems.append(.unrecordedPruning(size: anchor.size)) }
        checkpoints = []
        return problems
    }

    private mutating func resume(after sealed: SealedAuditEntry) {
        head = AuditHead(size: sealed.number, hash: sealed.hash)
        compareCheckpoints()
    }

    /// The checkpoints that the entries have reached, the last of the list first.
    private mutating func compareCheckpoints() {
        while let next = checkpoints.last, next.head.size <= head.size {
            checkpoints.removeLast()
            // One that a gap has passed over says nothing that the gap does not say.
            if next.head.size == head.size, next.head.hash != head.hash {
                problems.append(.contradictedCheckpoint(size: next.head.size))
            }
        }
    }
}
