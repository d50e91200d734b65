import RichPushModel
import ServiceErrors

/// Reads the files of an import line by line and makes the changes they ask for, some hundred in each transaction.
struct ImportRun {
    private let jobs: HubJobs
    private let lease: JobLease
    private let hub: NotificationHub
    private static let pieceBytes = 64 * 1024

    init(_ jobs: HubJobs, _ lease: JobLease, _ hub: NotificationHub) {
        self.jobs = jobs
        self.lease = lease
        self.hub = hub
    }

    /// Whether the job came to its end; `false` when somebody else works on it now.
    func run() async throws -> Bool {
        var progress = lease.job.progress
        let files = try await JobFiles(lease.job, jobs.containers, &progress)
        while progress.file < lease.job.inputs.count {
            guard try await read(lease.job.inputs[progress.file], &progress, files) else { return false }
            progress.file += 1
            progress.line = 0
            progress.offset = 0
        }
        try await files.finish(progress)
        return try await jobs.store.checkpoint(
            lease, progress, state: .completed, failure: nil, until: jobs.deadline, at: jobs.clock.now)
    }

    /// Reads the rest of one file; `false` when the lease was lost.
    private func read(_ blob: BlobReference, _ progress: inout JobProgress, _ files: JobFiles) async throws -> Bool {
        guard let file = try await jobs.containers.open(blob) else {
            throw JobFault(reason: "the file \(blob.name) is not there any more")
        }
        guard progress.offset <= file.size else { throw JobFault(reason: "the file \(blob.name) became shorter") }
        var splitter = LineSplitter(limit: jobs.settings.lineBytes, after: progress.line, offset: Int(progress.offset))
        var position = progress.offset
        var batch = ImportBatch()
        while position < file.size {
            let piece = try await file.read(at: position, count: Int(min(Int64(Self.pieceBytes), file.size - position)))
            position += Int64(piece.count)
            splitter.append(piece)
            while let line = splitter.next() {
                add(line, to: &batch)
                guard batch.isFull(jobs.settings) else { continue }
                guard try await apply(&batch, &progress, files) else { return false }
            }
        }
        if let line = splitter.finish() { add(line, to: &batch) }
        if batch.isEmpty { return true }
        return try await apply(&batch, &progress, files)
    }

    private func add(_ line: LineSplitter.Line, to batch: inout ImportBatch) {
        guard let bytes = line.bytes else {
            batch.refuse(line, "the line has more than \(jobs.settings.lineBytes) bytes")
            return
        }
        do {
            guard let change = try jobs.format.change(in: bytes, for: lease.job.kind) else { return }
            batch.add(line, try checked(change))
        } catch {
            batch.refuse(line, (error as? ServiceError)?.reason ?? "the line cannot be read")
        }
    }

    private func checked(_ change: RegistrationChange) throws -> RegistrationChange {
        switch change {
        case .put(let request): .put(try hub.accepted(request))
        case .merge(let part): .merge(try hub.accepted(part))
        case .remove: change
        }
    }

    private func apply(_ batch: inout ImportBatch, _ progress: inout JobProgress, _ files: JobFiles) async throws -> Bool {
        try Task.checkCancellation()
        let (done, before, format) = (batch, progress, jobs.format)
        let committed = try await jobs.store.apply(
            done.changes, for: lease, until: jobs.deadline, at: jobs.clock.now,
            report: { results in done.report(results, after: before, format) })
        guard let committed else { return false }
        progress = committed
        try await files.write(&progress)
        batch = ImportBatch()
        return true
    }
}

extension ServiceError {
    /// The sentence, without the code's word.
    var reason: String { detail ?? code.rawValue }
}
