import RichPushModel
import ServiceErrors

/// Keeps jobs, and commits what they do together with how far they are. Errors are `ServiceError` (`storage-unavailable`,
/// `outcome-unknown`).
public protocol JobStore: Sendable {
    /// Stores a job under the next number of its hub. Throws `quota-exceeded` when the hub has `limit` jobs that are not over.
    func create(_ job: NewJob, limit: Int, in hub: HubID, at now: Timestamp) async throws -> HubJob

    /// The job with this number, or `nil`.
    func job(_ number: Int64, in hub: HubID) async throws -> HubJob?

    /// The jobs of a hub, newest first, at most `limit`.
    func jobs(in hub: HubID, limit: Int) async throws -> [HubJob]

    /// Takes a job that is to be worked on: the oldest of a hub of which nobody works on one. A job whose lease has run out is
    /// taken again.
    func claim(owner: String, until: Timestamp, at now: Timestamp) async throws -> JobLease?

    /// Writes how far a job is and extends its lease; `false` when the lease was lost, and then nothing is written. A final state
    /// ends the lease. With a `failure` and the state `running` the job is only to be brought to its end by whoever takes it.
    func checkpoint(
        _ lease: JobLease, _ progress: JobProgress, state: HubJob.State, failure: String?, until: Timestamp, at now: Timestamp
    ) async throws -> Bool

    /// Makes changes one after the other and writes, in the same transaction, the progress that `report` makes of their results:
    /// the record as it was stored, `nil` for a removed one, or why a change was refused, in which case the others still are
    /// made. Returns that progress; `nil` when the lease was lost, and then nothing is changed. `report` may run more than once.
    func apply(
        _ changes: [RegistrationChange], for lease: JobLease, until: Timestamp, at now: Timestamp,
        report: @escaping @Sendable ([Result<DeviceRecord?, ServiceError>]) -> JobProgress
    ) async throws -> JobProgress?

    /// Gives a job back so that it is taken again after the moment; counts the attempt.
    func release(_ lease: JobLease, until: Timestamp, at now: Timestamp) async throws

    /// Frees the jobs of an owner, at the start of the one process of that name; every job for `nil`, at the start of the one process
    /// that may use the store. They can be claimed at once. Returns how many there were.
    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int

    /// Removes jobs that ended before the moment, at most `limit`; returns how many went.
    func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int

    /// How long after its moment a row of feedback may have others before it that are not there yet.
    var feedbackSettling: Duration { get }

    /// The number of the last feedback of the hub that lies in files; 0 when none does.
    func feedbackMark(in hub: HubID) async throws -> Int64

    /// Moves that mark; `false`, and nothing happens, when it is not where the caller read it: another has gone on.
    func moveFeedbackMark(from old: Int64, to new: Int64, in hub: HubID) async throws -> Bool
}

/// A job to be stored.
public struct NewJob: Hashable, Sendable {
    public var kind: HubJob.Kind
    public var output: ContainerName
    public var folder: String
    public var inputs: [BlobReference]
    /// What the progress counts up to.
    public var total: Int64

    /// Creates a job.
    public init(kind: HubJob.Kind, output: ContainerName, folder: String, inputs: [BlobReference], total: Int64) {
        self.kind = kind
        self.output = output
        self.folder = folder
        self.inputs = inputs
        self.total = total
    }
}

/// The right to work on a job for a while.
public struct JobLease: Hashable, Sendable {
    public var job: HubJob
    /// Counts the leases of the job: what an earlier holder still sends is refused.
    public var epoch: Int64
    /// How often the job was given back since it last came forward.
    public var attempts: Int

    /// Creates a lease.
    public init(job: HubJob, epoch: Int64, attempts: Int) {
        self.job = job
        self.epoch = epoch
        self.attempts = attempts
    }
}
