import PushHub
import RichPushModel
import ServiceErrors
import Synchronization

/// A queue that keeps in mind which checkpoints were written together, by the numbers of their slices.
final class CheckpointLog: SliceQueue {
    private let refused: Set<Int64>
    private let faults: [Int64: ServiceErrorCode]
    private let conflicting: Set<Int64>
    private let holdUp: (@Sendable (Int64) async -> Void)?
    private let written = Mutex<[[Int64]]>([])

    /// `conflicting` cannot be written with others; `holdUp` runs before a slice is written alone.
    init(
        refusing refused: Set<Int64> = [], failing faults: [Int64: ServiceErrorCode] = [:], conflicting: Set<Int64> = [],
        holdUp: (@Sendable (Int64) async -> Void)? = nil
    ) {
        self.refused = refused
        self.faults = faults
        self.conflicting = conflicting
        self.holdUp = holdUp
    }

    var groups: [[Int64]] { written.withLock { $0 } }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        try await checkpoints([checkpoint])[0]
    }

    func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer] {
        let slices = checkpoints.map(\.lease.id.number)
        if slices.count > 1, !conflicting.isDisjoint(with: slices) { throw CheckpointsInConflict() }
        if slices.count == 1 { await holdUp?(slices[0]) }
        for case let code? in slices.map({ faults[$0] }) { throw ServiceError(code) }
        written.withLock { $0.append(slices) }
        return slices.map { refused.contains($0) ? .refused : .stored(ended: nil) }
    }

    func lease(_ request: LeaseRequest) async throws -> [SliceLease] { [] }
    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool { true }
    func page(_ request: PageRequest) async throws -> SlicePage? { nil }
    func count(_ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp) async throws -> Set<SliceKey> {
        []
    }
    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int { 0 }
    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int { 0 }
}
