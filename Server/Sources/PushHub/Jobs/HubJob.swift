import RichPushModel

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

    /// Creates a job.
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
