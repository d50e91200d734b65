import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// Burns with every step of a job; when it is gone, the process is as good as dead: nothing reaches storage any more.
final class Fuse: Sendable {
    struct Dead: Error {}

    private let left: NIOLockedValueBox<Int>

    init(_ steps: Int) { left = NIOLockedValueBox(steps) }

    var isGone: Bool { left.withLockedValue { $0 <= 0 } }

    /// Burns one step; throws from the last one on.
    func burn() throws {
        let alive = left.withLockedValue { left in
            left -= 1
            return left > 0
        }
        if !alive { throw Dead() }
    }
}

/// A store that dies before or after a commit.
struct FuseJobStore: JobStore {
    let base: SQLJobs
    let fuse: Fuse

    typealias SQLJobs = any JobStore

    var feedbackSettling: Duration { base.feedbackSettling }

    func create(_ job: NewJob, limit: Int, in hub: HubID, at now: Timestamp) async throws -> HubJob {
        try await base.create(job, limit: limit, in: hub, at: now)
    }

    func job(_ number: Int64, in hub: HubID) async throws -> HubJob? {
        try fuse.burn()
        return try await base.job(number, in: hub)
    }

    func jobs(in hub: HubID, limit: Int) async throws -> [HubJob] { try await base.jobs(in: hub, limit: limit) }

    func claim(owner: String, until: Timestamp, at now: Timestamp) async throws -> JobLease? {
        try await base.claim(owner: owner, until: until, at: now)
    }

    func checkpoint(
        _ lease: JobLease, _ progress: JobProgress, state: HubJob.State, failure: String?, until: Timestamp, at now: Timestamp
    ) async throws -> Bool {
        try fuse.burn()
        let written = try await base.checkpoint(lease, progress, state: state, failure: failure, until: until, at: now)
        try fuse.burn()
        return written
    }

    func apply(
        _ changes: [RegistrationChange], for lease: JobLease, until: Timestamp, at now: Timestamp,
        report: @escaping @Sendable ([Result<DeviceRecord?, ServiceError>]) -> JobProgress
    ) async throws -> JobProgress? {
        try fuse.burn()
        let applied = try await base.apply(changes, for: lease, until: until, at: now, report: report)
        try fuse.burn()
        return applied
    }

    func release(_ lease: JobLease, until: Timestamp, at now: Timestamp) async throws {
        try fuse.burn()
        try await base.release(lease, until: until, at: now)
    }

    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await base.releaseAll(of: owner, at: now)
    }

    func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await base.sweep(endedBefore: moment, limit: limit)
    }

    func feedbackMark(in hub: HubID) async throws -> Int64 { try await base.feedbackMark(in: hub) }

    func moveFeedbackMark(from old: Int64, to new: Int64, in hub: HubID) async throws -> Bool {
        try await base.moveFeedbackMark(from: old, to: new, in: hub)
    }
}

/// Files that die in the middle of a write, and that remember the largest piece read or written.
struct FuseContainerStore: ContainerStore {
    let base: any ContainerStore
    let fuse: Fuse
    let largest = NIOLockedValueBox(0)

    func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload { try await base.put(blob, limit: limit) }

    func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending {
        try fuse.burn()
        return Appending(base: try await base.append(to: blob, at: offset), fuse: fuse, largest: largest)
    }

    func open(_ blob: BlobReference) async throws -> (any BlobReading)? {
        try fuse.burn()
        return try await base.open(blob).map { Reading(base: $0, largest: largest) }
    }

    func list(
        _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
    ) async throws -> [BlobInformation] {
        try await base.list(container, of: hub, prefix: prefix, after: name, limit: limit)
    }

    func remove(_ blob: BlobReference) async throws -> Bool { try await base.remove(blob) }

    func sweep(writtenBefore moment: Timestamp) async throws -> Int { try await base.sweep(writtenBefore: moment) }

    private struct Appending: BlobAppending {
        let base: any BlobAppending
        let fuse: Fuse
        let largest: NIOLockedValueBox<Int>

        func write(_ chunk: [UInt8]) async throws {
            largest.withLockedValue { $0 = max($0, chunk.count) }
            do { try fuse.burn() } catch {
                try await base.write(Array(chunk.prefix(chunk.count / 2)))
                throw error
            }
            try await base.write(chunk)
        }

        func cut(to size: Int64) async throws {
            try fuse.burn()
            try await base.cut(to: size)
        }

        func synchronize() async throws {
            try fuse.burn()
            try await base.synchronize()
        }
    }

    private struct Reading: BlobReading {
        let base: any BlobReading
        let largest: NIOLockedValueBox<Int>
        var size: Int64 { base.size }
        var writtenAt: Timestamp { base.writtenAt }

        func read(at offset: Int64, count: Int) async throws -> [UInt8] {
            largest.withLockedValue { $0 = max($0, count) }
            return try await base.read(at: offset, count: count)
        }
    }
}
