import Logging
import RichPushModel
import ServiceErrors

extension HubJobs {
    /// Works on jobs until the task is cancelled.
    public func run() async {
        await takeOver()
        await withDiscardingTaskGroup { group in
            for _ in 0..<max(1, settings.parallel) { group.addTask { await work() } }
        }
    }

    /// Frees the jobs that a process which died has left, before the first claim. Retried until storage answers or the task ends.
    func takeOver() async {
        guard settings.takeover != .none else { return }
        while !Task.isCancelled {
            do {
                let count = try await store.releaseAll(of: settings.takeover == .own ? settings.owner : nil, at: clock.now)
                if count > 0 { logger.notice("Jobs of an earlier process are taken over", metadata: ["count": "\(count)"]) }
                return
            } catch {
                looking.failed(error)
                try? await clock.sleep(for: settings.interval)
            }
        }
    }

    private func work() async {
        while !Task.isCancelled {
            if await runNext() { continue }
            do { try await clock.sleep(for: settings.interval) } catch { return }
        }
    }

    /// Works on one job until it ends or has to be given back; `false` when there is none.
    public func runNext() async -> Bool {
        let lease: JobLease
        do {
            let claimed = try await store.claim(owner: settings.owner, until: deadline, at: clock.now)
            looking.succeeded()
            guard let claimed else { return false }
            lease = claimed
        } catch {
            looking.failed(error)
            return false
        }
        observe(.began)
        defer { observe(.paused) }
        await perform(lease)
        return true
    }

    /// When a lease that is taken or extended now ends.
    var deadline: Timestamp { clock.now + settings.lease }

    private func perform(_ lease: JobLease) async {
        do {
            if let reason = lease.job.failure { return try await end(lease, lease.job.progress, reason) }
            guard let hub = try await hub(lease.job.hub) else { throw JobFault(reason: "the hub was removed") }
            let isOver =
                switch lease.job.kind {
                case .export: try await ExportRun(self, lease).run()
                default: try await ImportRun(self, lease, hub).run()
                }
            if isOver {
                logger.info("A job is over", metadata: ["job": "\(lease.job.number)"])
                observe(.ended(.completed))
            }
        } catch let error as JobFault {
            await fail(lease, error.reason)
        } catch is CancellationError {
            try? await store.release(lease, until: clock.now, at: clock.now)
        } catch {
            await postpone(lease, error)
        }
    }

    /// Stores the reason of the failure, then ends the job. If this process dies or stops in between, the next node that takes the job
    /// only ends it, which can be repeated safely.
    private func fail(_ lease: JobLease, _ reason: String) async {
        logger.warning("A job failed", metadata: ["job": "\(lease.job.number)", "reason": "\(reason)"])
        do {
            let current = try await store.job(lease.job.number, in: lease.job.hub)?.progress ?? lease.job.progress
            // A node that lost the lease must not touch the files.
            guard
                try await store.checkpoint(lease, current, state: .running, failure: reason, until: deadline, at: clock.now)
            else { return }
            try await end(lease, current, reason)
        } catch {
            try? await store.release(lease, until: clock.now, at: clock.now)
        }
    }

    /// Ends a job whose failure is stored. Its progress no longer changes, so every node that does this writes and truncates the same,
    /// even late or twice.
    private func end(_ lease: JobLease, _ progress: JobProgress, _ reason: String) async throws {
        var progress = progress
        do {
            // What was committed before belongs into the files, if they can be written at all.
            try await JobFiles(lease.job, containers, &progress).finish(progress)
        } catch {
            // One that is being stopped leaves it to the next.
            try Task.checkCancellation()
            logger.warning(
                "The files of a job that failed could not be completed",
                metadata: ["job": "\(lease.job.number)", "error": "\(error)"])
        }
        let isKept = try await store.checkpoint(
            lease, progress, state: .failed, failure: reason, until: clock.now, at: clock.now)
        if isKept { observe(.ended(.failed)) }
    }

    /// What storage cannot do now it may do later; in the end the job fails.
    private func postpone(_ lease: JobLease, _ error: any Error) async {
        let reason = (error as? ServiceError)?.description ?? "an unexpected error"
        if lease.attempts >= settings.attempts {
            await fail(lease, "it was tried \(lease.attempts + 1) times: \(reason)")
            return
        }
        logger.warning("A job has to wait", metadata: ["job": "\(lease.job.number)", "error": "\(error)"])
        let wait = Duration.seconds(min(1 << min(lease.attempts, 6), 60))
        try? await store.release(lease, until: clock.now + wait, at: clock.now)
    }
}

/// Why a job cannot go on at all.
struct JobFault: Error {
    var reason: String
}

/// The two files of a job, written from where the committed progress says they are; what is pending is written at once.
///
/// A stalled worker may resume after another has taken its place. All write the same bytes at the same positions. Only the worker
/// that did the last page, and so held the lease until then, truncates what a dead worker may have left behind.
struct JobFiles {
    private let output: any BlobAppending
    private let failed: any BlobAppending

    /// Opens the files; `progress` then counts what is pending as written.
    init(_ job: HubJob, _ containers: any ContainerStore, _ progress: inout JobProgress) async throws {
        guard let outputName = BlobName(job.outputFile), let failedName = BlobName(job.failedFile) else {
            throw JobFault(reason: "the names of its files are not valid")
        }
        output = try await Self.opened(
            BlobReference(hub: job.hub, container: job.output, name: outputName), at: progress.outputSize, containers)
        failed = try await Self.opened(
            BlobReference(hub: job.hub, container: job.output, name: failedName), at: progress.failedSize, containers)
        try await write(&progress)
    }

    /// A file that was removed in the middle, or lies where files lay before a bucket was set, must not end as one that is complete.
    private static func opened(
        _ blob: BlobReference, at size: Int64, _ containers: any ContainerStore
    ) async throws -> any BlobAppending {
        if size > 0, try await containers.open(blob)?.size ?? 0 < size {
            throw JobFault(reason: "the file \(blob.name), of which a part was written, is not there any more")
        }
        return try await containers.append(to: blob, at: size)
    }

    /// Ends the files where the progress does. To be called once everything is written, before the job is called over.
    func finish(_ progress: JobProgress) async throws {
        try await output.cut(to: progress.outputSize)
        try await failed.cut(to: progress.failedSize)
    }

    /// Writes what is pending, durably.
    func write(_ progress: inout JobProgress) async throws {
        if !progress.pendingOutput.isEmpty {
            try await output.write(Array(progress.pendingOutput.utf8))
            try await output.synchronize()
        }
        if !progress.pendingFailed.isEmpty {
            try await failed.write(Array(progress.pendingFailed.utf8))
            try await failed.synchronize()
        }
        progress.outputSize += Int64(progress.pendingOutput.utf8.count)
        progress.failedSize += Int64(progress.pendingFailed.utf8.count)
        progress.pendingOutput = ""
        progress.pendingFailed = ""
    }
}

/// Writes every registration of a hub to a file, page by page in the order of keys. Installations are none: they come with the
/// next start of their app. A registration that comes or goes meanwhile may be in the
/// file or not; one that does neither is in it once.
private struct ExportRun {
    private let jobs: HubJobs
    private let lease: JobLease

    init(_ jobs: HubJobs, _ lease: JobLease) {
        self.jobs = jobs
        self.lease = lease
    }

    /// Whether the job came to its end; `false` when another node works on it now.
    func run() async throws -> Bool {
        var progress = lease.job.progress
        let files = try await JobFiles(lease.job, jobs.containers, &progress)
        while true {
            try Task.checkCancellation()
            let request = DeviceListRequest(.all, after: progress.cursor, limit: jobs.settings.pageSize)
            let page = try await jobs.devices.devices(request, in: lease.job.hub)
            let (lines, taken) = lines(of: page.records)
            // Committed before the file is written, as in imports: a node that lost the lease must not write to a file that another
            // node now owns.
            progress.pendingOutput = lines
            progress.succeeded += Int64(taken.count { $0.kind == .registration })
            progress.done += Int64(taken.count)
            let isLast = page.next == nil && taken.count == page.records.count
            progress.cursor = isLast ? .last : taken.last?.sliceKey ?? .last
            guard try await commit(progress, isOver: false) else { return false }
            try await files.write(&progress)
            guard isLast else { continue }
            try await files.finish(progress)
            return try await commit(progress, isOver: true)
        }
    }

    /// The lines of as many records as fit into a commit: templates may be long.
    private func lines(of records: [DeviceRecord]) -> (lines: String, taken: ArraySlice<DeviceRecord>) {
        var lines = ""
        for (index, record) in records.enumerated() {
            if record.kind == .registration { lines += jobs.format.line(for: record) }
            if lines.utf8.count >= jobs.settings.batchBytes { return (lines, records[...index]) }
        }
        return (lines, records[...])
    }

    private func commit(_ progress: JobProgress, isOver: Bool) async throws -> Bool {
        try await jobs.store.checkpoint(
            lease, progress, state: isOver ? .completed : .running, failure: nil, until: jobs.deadline, at: jobs.clock.now)
    }
}
