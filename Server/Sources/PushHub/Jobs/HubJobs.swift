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
    /// This node no longer works on it; it may have ended, or another turn follows.
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

extension NotificationHub {
    /// A part of an installation as the hub would store it: checked, and with the hub's own expiry where it says none. Throws
    /// `ServiceError`.
    func accepted(_ part: InstallationPart) throws -> InstallationPart {
        var accepted = part
        accepted.limits = settings.limits
        accepted.content.expiresAt = part.content.expiresAt ?? defaultExpiry(at: clock.now)
        _ = try part.content.checked(limits: settings.limits)
        return accepted
    }
}

/// How registrations and feedback look in files. Adapters know; jobs only move lines.
public protocol HubFileFormat: Sendable {
    /// A record as a line, with its line end.
    func line(for record: DeviceRecord) -> String

    /// The line for a removed record, with its line end.
    func line(forRemoved id: RecordID) -> String

    /// A line that failed, with the reason in a form that an import ignores, so that the file can be corrected and imported again.
    /// `line` is absent when it was too long to be kept.
    func line(failed line: [UInt8]?, number: Int, reason: String) -> String

    /// What a line asks for in a job of this kind; `nil` for a line with nothing but remarks. Throws `ServiceError` with the
    /// reason.
    func change(in line: [UInt8], for kind: HubJob.Kind) throws -> RegistrationChange?

    /// Feedback as one document.
    func document(for feedback: DeviceFeedback) -> String
}

extension HubJobs {
    /// How many files one call lays down at most; the next call goes on.
    private static let filesAtOnce = 100

    /// Lays the feedback of a hub that is new since the last call into files of its feedback container, at most 1,000 documents in
    /// each. A file is named after its first and last row, so that a node that stalls between reading and writing cannot replace a
    /// file that another node wrote meanwhile. Then, or when a mark is lost, rows are in two files.
    ///
    /// Where there is no room for more, what lies there can be read all the same.
    public func layDownFeedback(of hub: NotificationHub) async throws {
        do { try await layDownNewFeedback(of: hub) } catch let error as ServiceError where error.code == .quotaExceeded {
            logger.warning("There is no room for a hub's feedback", metadata: ["hub_id": "\(hub.id.number)"])
        }
    }

    private func layDownNewFeedback(of hub: NotificationHub) async throws {
        var mark = try await store.feedbackMark(in: hub.id)
        // What is younger may have others before it whose transaction is still open.
        let limit = clock.now - store.feedbackSettling
        for _ in 0..<Self.filesAtOnce {
            let rows = try await hub.feedback(after: mark).prefix { $0.notedAt <= limit }
            guard let first = rows.first, let last = rows.last else { return }
            try await write(Array(rows), "\(Self.padded(first.number))-\(Self.padded(last.number))", hub.id)
            guard try await store.moveFeedbackMark(from: mark, to: last.number, in: hub.id) else { return }
            mark = last.number
        }
    }

    private static func padded(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 19 - digits.count)) + digits
    }

    private func write(_ rows: [DeviceFeedback], _ numbers: String, _ hub: HubID) async throws {
        guard let name = BlobName("feedback-\(numbers).xml") else { return }
        let blob = BlobReference(hub: hub, container: .feedback, name: name)
        let upload = try await containers.put(blob, limit: .max)
        var text = ""
        for row in rows { text += format.document(for: row) }
        try await upload.write(Array(text.utf8))
        try await upload.finish()
    }
}
