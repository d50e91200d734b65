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

    /// Takes a job that is to be worked on: the oldest of a hub none of whose jobs is leased. A job whose lease has run out is
    /// taken again.
    func claim(owner: String, until: Timestamp, at now: Timestamp) async throws -> JobLease?

    /// Writes how far a job is and extends its lease; `false` when the lease was lost, and then nothing is written. A final state
    /// ends the lease. With a `failure` and the state `running`, the next node that takes the job only ends it.
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

    public init(job: HubJob, epoch: Int64, attempts: Int) {
        self.job = job
        self.epoch = epoch
        self.attempts = attempts
    }
}

/// An import or export of a hub's registrations (Reference/AzureNotificationHubs.md#2-12), and how far it has come.
public struct HubJob: Hashable, Sendable {
    /// What a job does.
    public enum Kind: String, Sendable, CaseIterable {
        case export
        /// Every line is a new registration; one whose id exists fails.
        case importCreate = "import-create"
        /// Every line replaces a registration; one whose id does not exist fails.
        case importUpdate = "import-update"
        /// Every line names a registration to remove.
        case importDelete = "import-delete"
        /// Every line creates or replaces a registration.
        case importUpsert = "import-upsert"
    }

    /// Where a job stands.
    public enum State: String, Sendable, CaseIterable {
        /// Accepted; it waits for its turn or for the node that had begun it.
        case waiting
        case running
        case completed
        case failed

        /// Whether nothing more will happen.
        public var isFinal: Bool { self == .completed || self == .failed }
    }

    public var hub: HubID
    /// Counts the jobs of a hub from 1.
    public var number: Int64
    public var kind: Kind
    public var state: State
    /// The container that takes the files of the job.
    public var output: ContainerName
    /// Where in it they lie: the part of the names before `Output.txt` and `Failed.txt`.
    public var folder: String
    /// The files to import, in order; none for exports.
    public var inputs: [BlobReference]
    public var progress: JobProgress
    /// Why the job failed; of one that is not over, why it is going to end as failed.
    public var failure: String?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(
        hub: HubID, number: Int64, kind: Kind, state: State, output: ContainerName, folder: String, inputs: [BlobReference],
        progress: JobProgress, failure: String? = nil, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.hub = hub
        self.number = number
        self.kind = kind
        self.state = state
        self.output = output
        self.folder = folder
        self.inputs = inputs
        self.progress = progress
        self.failure = failure
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    /// The name of the file with the registrations that were exported, or imported as they are now.
    public var outputFile: String { "\(folder)/\(number)/Output.txt" }

    /// The name of the file with the lines that failed, each with the reason behind it.
    public var failedFile: String { "\(folder)/\(number)/Failed.txt" }

    /// How much is done, 0 to 100.
    public var percentage: Double {
        if state == .completed { return 100 }
        guard progress.total > 0 else { return 0 }
        return min(99.9, 100 * Double(progress.done) / Double(progress.total))
    }
}

/// How far a job has come: all that is needed to go on after a crash from the last committed line.
public struct JobProgress: Hashable, Sendable {
    /// What `done` counts up to: bytes of the input files, or records to export.
    public var total: Int64 = 0
    public var done: Int64 = 0
    /// The input file that is being read, from 0, and the lines and bytes of it that are done.
    public var file = 0
    public var line = 0
    public var offset: Int64 = 0
    /// The last record that was exported.
    public var cursor: SliceKey = .beforeAll
    /// Lines and records that went well, and lines that did not.
    public var succeeded: Int64 = 0
    public var failed: Int64 = 0
    /// The sizes of the two files of the job, without what is pending.
    public var outputSize: Int64 = 0
    public var failedSize: Int64 = 0
    /// Output to append to the two files, committed with the changes that it describes. It may have been written already, so it is
    /// written again from these sizes on.
    public var pendingOutput = ""
    public var pendingFailed = ""

    /// The progress of a job that has not begun.
    public init(total: Int64 = 0) { self.total = total }
}

/// What a line of an import asks for.
public enum RegistrationChange: Hashable, Sendable {
    case put(DeviceUpsert)
    /// Adds what the line says to the installation that it belongs to.
    case merge(InstallationPart)
    case remove(RecordID, expecting: DevicePrecondition)
}

/// What one line of an import says of an installation: an export has a line for its native registration and one for each template.
public struct InstallationPart: Hashable, Sendable {
    /// Marks installations that came by import alone, among their details. The first `PUT` of the app removes it.
    public static let mark = "Imported"

    /// What the line says; at most one template. Without one the line is the native registration, which alone has the tags and
    /// variables of the installation.
    public var content: InstallationUpsert
    /// Whether the installation has to be there already.
    public var mustExist: Bool
    var limits = HubRequestLimits()

    public init(_ content: InstallationUpsert, mustExist: Bool) {
        self.content = content
        self.mustExist = mustExist
    }

    /// The installation with this part, checked. Throws `conflict` when the app has registered here itself: what it says is newer than
    /// an export. Throws `not-found` and `invalid-field` as well.
    public func merged(into stored: InstallationUpsert?) throws -> InstallationUpsert {
        if mustExist, stored == nil { throw ServiceError(.notFound, "there is no such installation") }
        guard stored == nil || stored?.details[Self.mark] != nil else {
            throw ServiceError(.conflict, "the app has registered this installation here already")
        }
        var result = stored ?? content
        if content.templates.isEmpty {
            (result.tags, result.pushVariables, result.details) = (content.tags, content.pushVariables, content.details)
        }
        (result.platform, result.handle) = (content.platform, content.handle)
        result.userID = content.userID ?? result.userID
        result.expiresAt = content.expiresAt ?? result.expiresAt
        result.templates.merge(content.templates) { $1 }
        // A line of a template has the tags of the installation as well.
        for name in result.templates.keys { result.templates[name]?.tags.removeAll { result.tags.contains($0) } }
        result.details[Self.mark] = "true"
        result.confirmsHandle = true
        return try result.checked(limits: limits)
    }
}
