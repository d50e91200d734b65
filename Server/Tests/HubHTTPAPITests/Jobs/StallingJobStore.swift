import PushHub
import RichPushModel
import ServiceErrors

/// The jobs of a worker that stalls whenever it has read one.
struct StallingJobStore: JobStore {
    let base: any JobStore
    /// What happens meanwhile.
    let stall: @Sendable () async -> Void

    func job(_ number: Int64, in hub: HubID) async throws -> HubJob? {
        let job = try await base.job(number, in: hub)
        await stall()
        return job
    }

    var feedbackSettling: Duration { base.feedbackSettling }

    func create(_ job: NewJob, limit: Int, in hub: HubID, at now: Timestamp) async throws -> HubJob {
        try await base.create(job, limit: limit, in: hub, at: now)
    }

    func jobs(in hub: HubID, limit: Int) async throws -> [HubJob] { try await base.jobs(in: hub, limit: limit) }

    func claim(owner: String, until: Timestamp, at now: Timestamp) async throws -> JobLease? {
        try await base.claim(owner: owner, until: until, at: now)
    }

    func checkpoint(
        _ lease: JobLease, _ progress: JobProgress, state: HubJob.State, failure: String?, until: Timestamp, at now: Timestamp
    ) async throws -> Bool {
        try await base.checkpoint(lease, progress, state: state, failure: failure, until: until, at: now)
    }

    func apply(
        _ changes: [RegistrationChange], for lease: JobLease, until: Timestamp, at now: Timestamp,
        report: @escaping @Sendable ([Result<DeviceRecord?, ServiceError>]) -> JobProgress
    ) async throws -> JobProgress? {
        try await base.apply(changes, for: lease, until: until, at: now, report: report)
    }

    func release(_ lease: JobLease, until: Timestamp, at now: Timestamp) async throws {
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
