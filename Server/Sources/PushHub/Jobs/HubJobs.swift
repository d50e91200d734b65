import Logging
import RichPushModel
import ServiceErrors

/// Imports and exports of registrations: accepts them and works on them in the background, one at a time for each hub.
///
/// A job reads and writes piece by piece, so its memory does not depend on its size; what it changes is committed together with
/// how far it is, so a crash repeats nothing and loses nothing.
public struct HubJobs: Sendable {
    /// The bounds of jobs.
    public struct Settings: Sendable {
        /// Lines of an import in one transaction, and their bytes.
        public var batchLines = 500
        public var batchBytes = 1 << 20
        /// The longest line of an import, in bytes; longer ones fail.
        public var lineBytes = 256 * 1024
        /// Records of an export between two commits.
        public var pageSize = 500
        /// Input files of one import.
        public var files = 1000
        /// Jobs of one hub that are not over.
        public var unfinished = 100
        /// Jobs that a list shows.
        public var listed = 100
        /// Jobs of different hubs that run at once.
        public var parallel = 2
        /// How long a node may be silent before its job is taken by another.
        public var lease: Duration = .seconds(30)
        /// How often is looked for new jobs.
        public var interval: Duration = .seconds(1)
        /// How often a job is tried that does not come forward.
        public var attempts = 20
        /// Names this process in the leases of its jobs.
        public var owner = ContainerName.random().text
        /// Which leases that are found at the start are those of a process that died.
        public var takeover = LeaseTakeover.none

        /// The defaults.
        public init() {}
    }

    let store: any JobStore
    let containers: any ContainerStore
    let devices: any DeviceStore
    let format: any HubFileFormat
    let hub: @Sendable (HubID) async throws -> NotificationHub?
    let clock: any ServiceClock
    let logger: Logger
    let settings: Settings
    let looking: TroubleLog
    let observe: @Sendable (JobEvent) -> Void

    /// Creates the service. `hub` finds a hub of this node, `nil` when it was removed.
    public init(
        store: any JobStore, containers: any ContainerStore, devices: any DeviceStore, format: any HubFileFormat,
        hub: @escaping @Sendable (HubID) async throws -> NotificationHub?, clock: any ServiceClock, logger: Logger,
        settings: Settings = Settings(), observe: @escaping @Sendable (JobEvent) -> Void = { _ in }
    ) {
        self.store = store
        self.containers = containers
        self.devices = devices
        self.format = format
        self.hub = hub
        self.clock = clock
        self.logger = logger
        self.settings = settings
        self.observe = observe
        looking = TroubleLog("Jobs cannot be looked for", logger: logger)
    }

    /// The files of hubs.
    public var files: any ContainerStore { containers }
}

/// What happens to the jobs of one node, for metrics.
public enum JobEvent: Hashable, Sendable {
    /// This node works on a job.
    case began
    /// This node works on it no more; it may have ended, or another turn follows.
    case paused
    /// A job has reached its final state.
    case ended(HubJob.State)
}

/// What a caller asks a job for.
public struct JobRequest: Hashable, Sendable {
    /// Where the lines of an import come from.
    public enum Source: Hashable, Sendable {
        case file(ContainerName, BlobName)
        /// All files of a container whose names begin with the prefix, in the order of their names.
        case container(ContainerName, prefix: String)
    }

    public var kind: HubJob.Kind
    /// The name of the hub, under which the files of the job lie.
    public var hubName: String
    public var output: ContainerName
    /// Absent for exports.
    public var source: Source?

    /// Creates a request.
    public init(kind: HubJob.Kind, hubName: String, output: ContainerName, source: Source?) {
        self.kind = kind
        self.hubName = hubName
        self.output = output
        self.source = source
    }
}

extension HubJobs {
    /// Accepts a job. Throws `invalid-field` when there is nothing to import, `quota-exceeded` when too many jobs wait.
    public func submit(_ request: JobRequest, in hub: HubID) async throws -> HubJob {
        guard BlobName("\(request.hubName)/1/Output.txt") != nil else {
            throw ServiceError(.invalidField, "the name of this hub cannot be part of a file's name")
        }
        let inputs = try await inputs(request, hub)
        let total = try await request.kind == .export ? Int64(devices.count(in: hub)) : inputs.reduce(0) { $0 + $1.size }
        let job = NewJob(
            kind: request.kind, output: request.output, folder: request.hubName, inputs: inputs.map(\.blob), total: total)
        let accepted = try await store.create(job, limit: settings.unfinished, in: hub, at: clock.now)
        logger.info("A job was accepted", metadata: ["job": "\(accepted.number)", "kind": "\(accepted.kind.rawValue)"])
        return accepted
    }

    /// The job with this number, or `nil`.
    public func job(_ number: Int64, in hub: HubID) async throws -> HubJob? { try await store.job(number, in: hub) }

    /// The newest jobs of a hub.
    public func jobs(in hub: HubID) async throws -> [HubJob] { try await store.jobs(in: hub, limit: settings.listed) }

    private typealias Input = (blob: BlobReference, size: Int64)

    private func inputs(_ request: JobRequest, _ hub: HubID) async throws -> [Input] {
        switch (request.kind, request.source) {
        case (.export, _): return []
        case (_, nil): throw ServiceError(.invalidField, "an import needs a file")
        case (_, .file(let container, let name)):
            let blob = BlobReference(hub: hub, container: container, name: name)
            guard let file = try await containers.open(blob) else {
                throw ServiceError(.invalidField, "ImportFileUri: there is no such file in the container")
            }
            return [(blob, file.size)]
        case (_, .container(let container, let prefix)):
            let found = try await containers.list(container, of: hub, prefix: prefix, after: nil, limit: settings.files + 1)
            guard !found.isEmpty else { throw ServiceError(.invalidField, "ImportFileUri: the container has no files") }
            guard found.count <= settings.files else {
                throw ServiceError(.invalidField, "ImportFileUri: an import has at most \(settings.files) files")
            }
            return found.map { (BlobReference(hub: hub, container: container, name: $0.name), $0.size) }
        }
    }
}
