import RichPushModel

/// An import or export as the protocol describes it (Reference/AzureNotificationHubs.md#2-12).
public struct HubJobDocument: Hashable, Sendable {
    /// What a job does.
    public enum JobType: String, Sendable, CaseIterable {
        case exportRegistrations = "ExportRegistrations"
        case importCreateRegistrations = "ImportCreateRegistrations"
        case importUpdateRegistrations = "ImportUpdateRegistrations"
        case importDeleteRegistrations = "ImportDeleteRegistrations"
        case importUpsertRegistrations = "ImportUpsertRegistrations"
    }

    /// Where a job stands.
    public enum Status: String, Sendable, CaseIterable {
        case started = "Started"
        case running = "Running"
        case completed = "Completed"
        case failed = "Failed"
    }

    /// A named text of `InputProperties` or `OutputProperties`.
    public struct Property: Hashable, Sendable {
        public var key: String
        public var value: String

        /// Creates a property.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }

        /// The key under which a finished job names its output.
        public static let outputFilePath = "OutputFilePath"
        /// The key under which a finished job names the lines that failed.
        public static let failedFilePath = "FailedFilePath"
    }

    /// Absent in requests.
    public var id: String?
    /// 0 to 100, perhaps with a fraction.
    public var progress: Double?
    public var type: JobType
    public var status: Status?
    /// A signed URL of the container that takes the files of the job.
    public var outputContainer: String
    /// A signed URL of the file to import; absent for exports.
    public var importFile: String?
    public var inputProperties: [Property] = []
    /// Why the job failed.
    public var failure: String?
    public var outputProperties: [Property] = []
    public var createdAt: Timestamp?
    public var updatedAt: Timestamp?

    /// Creates a job as a request has it.
    public init(_ type: JobType, outputContainer: String, importFile: String? = nil) {
        self.type = type
        self.outputContainer = outputContainer
        self.importFile = importFile
    }
}
